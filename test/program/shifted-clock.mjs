// Preloaded (--import): the wall clock of this process is off by the milliseconds that stand in the file XCE_TEST_SHIFT_FILE, and so is the time since
// the machine's start, as after a suspend, where XCE_TEST_SHIFT_UPTIME is set. The file is read again at SIGWINCH; then its name with ".seen" is written.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const file = process.env.XCE_TEST_SHIFT_FILE
let shift = 0
const read = () => {
  shift = Number(fs.readFileSync(file, 'utf8'))
  fs.writeFileSync(`${file}.seen`, String(shift))
}
read()
process.on('SIGWINCH', read)

const RealDate = Date
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + shift)
    else super(...parts)
  }
  static now() {
    return RealDate.now() + shift
  }
}

if (process.env.XCE_TEST_SHIFT_UPTIME) {
  const { readFileSync } = fs
  fs.readFileSync = (path, ...rest) => {
    const text = readFileSync(path, ...rest)
    return path === '/proc/uptime' ? text.replace(/^[\d.]+/, (seconds) => String(Number(seconds) + shift / 1000)) : text
  }
  syncBuiltinESMExports()
}
