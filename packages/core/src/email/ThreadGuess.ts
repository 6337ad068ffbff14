import { Effect } from "effect"
import * as Timestamp from "../kernel/Timestamp.ts"
import { foldAddress } from "./EmailAddress.ts"
import type { ParsedMail } from "./InboundMail.ts"
import type { Mailbox } from "./Mailbox.ts"
import type { MessageStore } from "./MessageStore.ts"
import { searchWords } from "./MessageTerms.ts"
import { baseSubject, isReplySubject } from "./Subject.ts"

/** How old the message may be that an answer without a known Message-ID belongs to. */
const GUESS_WINDOW = 30 * Timestamp.DAY
/** The messages that are compared. More of one subject to one person are several conversations most likely. */
const CANDIDATES_MAX = 20
/** Ids that are looked for: that of In-Reply-To, and the latest of References. */
const IDS_MAX = 2

/** Returns the part of a Message-ID that a relay chooses. */
const relayIdOf = (messageIdHeader: string): string => messageIdHeader.replace(/^<|>$/g, "").replace(/@[^@]*$/, "")

/**
 * Returns the thread of an answer whose In-Reply-To and References name no stored message, because a relay replaced the
 * Message-ID of the message that it answers:
 *
 * - that of the sent message to which a relay gave the id that the answer names;
 * - else, if the subject is that of a reply, the only thread of the last 30 days in which the mailbox wrote to the author
 *   under this subject. With several, none: a new thread is better than a wrong one.
 */
export const guessThread = Effect.fnUntraced(function* (
  messages: MessageStore["Service"],
  { mailboxId, tenantId }: Mailbox,
  { from, inReplyTo, references, subject }: ParsedMail,
  now: Timestamp.Timestamp
) {
  const ids = [...new Set([...(inReplyTo === null ? [] : [inReplyTo]), ...references.toReversed()].map(relayIdOf))]
  for (const relayId of ids.slice(0, IDS_MAX)) {
    const [named] = yield* messages.list(tenantId, { mailboxId, direction: "outbound", relayId }, undefined, 1)
    if (named !== undefined) return named.threadId
  }
  if (ids.length === 0 || from.address === "" || !isReplySubject(subject)) return undefined
  const base = baseSubject(subject)
  const author = foldAddress(from.address)
  const since = Timestamp.Timestamp.make(Math.max(0, now - GUESS_WINDOW))
  const words = [...searchWords(`${base} ${author}`)]
  const sent = yield* messages.list(
    tenantId,
    { mailboxId, direction: "outbound", since, words },
    undefined,
    CANDIDATES_MAX
  )
  const threads = new Set(
    sent
      .filter(
        (message) =>
          baseSubject(message.subject) === base &&
          message.recipients.some(({ address }) => foldAddress(address) === author)
      )
      .map(({ threadId }) => threadId)
  )
  const [only, ...others] = threads
  return others.length === 0 ? only : undefined
})
