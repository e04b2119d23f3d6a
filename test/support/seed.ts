import fc from 'fast-check'

// The same histories at every run; XCE_TEST_SEED tries others.
fc.configureGlobal({ seed: Number(process.env['XCE_TEST_SEED'] ?? 20_261_129), endOnFailure: true })
