import type { Database } from './database.ts'

/** The most characters of one message, ASCII only: PostgreSQL takes less than 8,000 bytes. */
export const longestMessage = 7_900

/**
 * Sends messages to everyone who listens to the channel, in order and all at once. A client that does not listen now
 * never gets them.
 */
export async function notify({ prisma }: Database, channel: string, messages: readonly string[]): Promise<void> {
  await prisma.$queryRaw`
    SELECT count(pg_notify(${channel}, m.text)) AS sent FROM json_array_elements_text(${JSON.stringify(messages)}::json) WITH ORDINALITY AS m(text, at)`
}
