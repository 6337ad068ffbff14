import { Schema } from "effect"
import { nameText } from "../kernel/PlainText.ts"
import type { MessageSummary } from "./Message.ts"

/** The maximum number of labels of one message. */
export const LABEL_LIMIT = 20
export const LABEL_CHARACTERS = 64

/** The label of unread messages, where they are stored. It is an input of its own. */
export const UNREAD = "unread"

/** Returns a label as it is stored and compared. */
export const foldLabel = (label: string): string => label.trim().toLowerCase()

/** A label as clients give it, in any case. */
export const Label = nameText(LABEL_CHARACTERS).check(
  Schema.makeFilter((label: string) => foldLabel(label) !== "" || "must not be blank"),
  // Some letters, such as İ, become longer in lower case.
  Schema.makeFilter(
    (label: string) =>
      label.length > LABEL_CHARACTERS ||
      foldLabel(label).length <= LABEL_CHARACTERS ||
      `must have at most ${LABEL_CHARACTERS} characters in lower case`
  ),
  Schema.makeFilter((label: string) => foldLabel(label) !== UNREAD || "is reserved: set `unread` instead")
)

/** The labels and the unread state of a message, which its owner sets. */
export type MessageMarks = Pick<MessageSummary, "labels" | "unread">

/** A change of the marks of messages. Labels that it does not name stay. */
export interface MarkChange {
  readonly addLabels?: ReadonlyArray<string> | undefined
  readonly removeLabels?: ReadonlyArray<string> | undefined
  readonly unread?: boolean | undefined
}

/** Returns the marks after a change: each label once, sorted. */
export const changeMarks = (
  { labels, unread }: MessageMarks,
  { addLabels = [], removeLabels = [], unread: changed = unread }: MarkChange
): MessageMarks => {
  const removed = new Set(removeLabels.map(foldLabel))
  const kept = [...labels, ...addLabels.map(foldLabel)].filter((label) => !removed.has(label))
  return { labels: [...new Set(kept)].toSorted(), unread: changed }
}
