import { foldAddress, splitAddress, toEmailAddress } from "./EmailAddress.ts"
import { isAddressOf, type Mailbox } from "./Mailbox.ts"
import type { AutomaticReason, Message } from "./Message.ts"
import { hasForm } from "./ReturnPath.ts"

/**
 * Returns addresses in the form that is stored, each once, without those that can't be written to, and without some. A
 * return path, to which vacation replies are addressed, only takes answers to the mail that had it.
 */
const writable = (addresses: ReadonlyArray<string>, isLeftOut: (address: string) => boolean): ReadonlyArray<string> => {
  const found = new Map<string, string>()
  for (const given of addresses) {
    const address = toEmailAddress(given)
    if (address === undefined || isLeftOut(address) || hasForm(splitAddress(address).localPart)) continue
    const folded = foldAddress(address)
    if (!found.has(folded)) found.set(folded, address)
  }
  return [...found.values()]
}

/**
 * Returns the recipients of a reply (RFC 5322, section 3.6.3): of a received message the addresses in Reply-To, or else its
 * author; of a sent one its recipients. The own addresses are left out, unless the message names no others. Empty if it
 * names no address that can be written to.
 */
export const repliedTo = (message: Message, own: ReadonlyArray<Mailbox>): ReadonlyArray<string> => {
  const isOwn = (address: string) => own.some((mailbox) => isAddressOf(mailbox, address))
  const choices =
    message.direction === "outbound" ? [message.to] : [message.replyTo, [message.from], [...message.to, ...message.cc]]
  const others = choices.map((choice) => writable(choice, isOwn)).find(({ length }) => length > 0)
  return others ?? choices.map((choice) => writable(choice, () => false)).find(({ length }) => length > 0) ?? []
}

/**
 * Returns who gets a copy of a reply to all: those that the caller names, the recipients of the message, and its mailing
 * list, without the own addresses.
 */
export const copiedTo = (
  { cc, mailingList, to }: Message,
  own: ReadonlyArray<Mailbox>,
  named: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const post = mailingList?.post ?? null
  return writable([...named, ...to, ...cc, ...(post === null ? [] : [post])], (address) =>
    own.some((mailbox) => isAddressOf(mailbox, address))
  )
}

/** Mail of programs that answer by themselves, and bounces. A program that answers it begins a loop. */
const LOOPING: ReadonlySet<AutomaticReason> = new Set(["auto_replied", "null_sender"])

/** Whether a program must not answer the message by itself (RFC 3834, section 2; RFC 5321, section 4.5.5). */
export const isLooping = ({ automatic, direction }: Pick<Message, "automatic" | "direction">): boolean =>
  direction === "inbound" && automatic !== null && LOOPING.has(automatic)
