import { readFileSync } from 'node:fs'
import { breachesOfContract, type Unbuilt } from './contract.ts'

// Compares schema.graphql with the contract and fails when a part of the contract is missing or changed.

/** Whoever builds one of these removes it from the list: the check also fails when a listed part exists. */
const unbuilt: readonly Unbuilt[] = []

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

/** Where schema.graphql lacks something of the contract, or says it otherwise. */
export function contractMistakes(): Promise<readonly string[]> {
  return breachesOfContract(read('test/contract.graphql'), read('schema.graphql'), unbuilt)
}
