/** The fields that are compared. */
export type ComparedField = "from" | "to" | "cc" | "subject" | "messageId" | "text" | "html" | "attachments"

/** A field, or what happened to the mail as a whole. */
export type FieldName = ComparedField | "refused" | "lost"

export interface Seen {
  readonly field: FieldName
  readonly ours: string
  readonly others: ReadonlyArray<string>
}

interface Choice {
  readonly field: FieldName
  readonly isMeant: (seen: Seen) => boolean
  readonly reason: string
}

/** What readers show for bytes that are invalid in the charset. Python reads raw bytes of a header as such ones too. */
const INVALID = /[\ufffd\udc80-\udcff]/

const isGuessed = ({ ours, others }: Seen): boolean =>
  !INVALID.test(ours) && others.every((other) => other === "" || INVALID.test(other))

/** Where the service differs from other readers on purpose, and why. */
const CHOICES: ReadonlyArray<Choice> = [
  ...(["subject", "text", "html"] as const).map((field) => ({
    field,
    isMeant: isGuessed,
    reason: "bytes that are invalid in the charset of the label, or have none, are read in the likely one"
  })),
  {
    field: "text",
    isMeant: ({ ours, others }) => others.includes("") && others.some((other) => other.startsWith(`${ours} `)),
    reason: "a text part with a name is a file; the first one is also the text of a mail without another"
  },
  {
    field: "attachments",
    isMeant: ({ ours, others }) =>
      others.includes(
        ours.replaceAll(/message\/rfc822 (?:(?!, message\/rfc822 ).)*?\.eml(?=, |$)/g, "message/rfc822 ")
      ),
    reason: "a message inside a mail that has no name of its own is named by its subject"
  },
  {
    field: "refused",
    isMeant: ({ ours }) => ours.startsWith("550 5.7.1 The message must have one From field"),
    reason: "refused at SMTP: no From field with one certain address"
  },
  {
    field: "refused",
    isMeant: ({ ours }) => ours.startsWith("550 5.6.0 The header is malformed"),
    reason: "refused at SMTP: a line of the header is no field, so that readers would disagree on what is a header"
  },
  {
    field: "html",
    isMeant: ({ ours, others }) => others.some((other) => ours.includes(other)),
    reason: "text parts before and after an HTML part, such as the footer of a list, are shown in the HTML too"
  },
  {
    field: "text",
    isMeant: ({ ours, others }) => others.some((other) => isWithin(other, ours)),
    reason: "HTML parts between text parts are shown in the text too"
  }
]

/** Whether a text has all words of another in their order. */
const isWithin = (part: string, whole: string): boolean => {
  const words = whole.split(" ")
  let at = 0
  for (const word of part.split(" ")) {
    at = words.indexOf(word, at) + 1
    if (at === 0) return false
  }
  return true
}

/** Returns why a difference is meant; undefined if it is a fault. */
export const explanationOf = (seen: Seen): string | undefined =>
  CHOICES.find(({ field, isMeant }) => field === seen.field && isMeant(seen))?.reason
