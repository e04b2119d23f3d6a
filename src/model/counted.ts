/** Counts a noun: "1 replica", "3 replicas". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
