/** Counts a noun: "1 replica", "3 replicas". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** Counts a time: "the 2nd", "the 11th", without the article. */
export function ordinal(count: number): string {
  const isTeen = count % 100 > 10 && count % 100 < 14
  return `${count}${(isTeen ? undefined : (['th', 'st', 'nd', 'rd'] as const)[count % 10]) ?? 'th'}`
}
