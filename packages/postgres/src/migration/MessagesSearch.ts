import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"

/** Serves filters of messages other than the mailbox and the time. */
export const messagesSearch: ConcurrentIndex = {
  name: "messages_search",
  definition: "on messages using gin (search)"
}

/** Serves the job that makes messages of older versions searchable: it contains only those. */
export const messagesUnsearchable: ConcurrentIndex = {
  name: "messages_unsearchable",
  definition: "on messages (message_id) where search is null"
}
