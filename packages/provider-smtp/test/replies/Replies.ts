import type { LabeledReply } from "./LabeledReply.ts"
import { LANGUAGES, type Language } from "./Languages.ts"
import { LATER_REPLIES } from "./LaterReplies.ts"
import { SINGLE_REPLIES } from "./SingleReplies.ts"

const NAME = "Ada Lovelace"
const ADDRESS = "ada@example.org"

const named = (introduction: string): string => introduction.replaceAll("{A}", NAME).replaceAll("{a}", ADDRESS)
const marked = (...lines: ReadonlyArray<string>): string => lines.map((line) => `> ${line}`.trimEnd()).join("\n")
/** Wraps at 76 characters as Gmail does, at a space. */
const wrapped = (line: string): string => {
  const at = line.lastIndexOf(" ", 76)
  return line.length <= 76 || at < 0 ? line : `${line.slice(0, at)}\n${line.slice(at + 1)}`
}

const headerOf = ({ old, outlook: [from, date, to, subject] }: Language): string =>
  `${from}: ${NAME} <${ADDRESS}>\n${date}\n${to}: Bob <bob@example.com>\n${subject}: ${old[0]}`

/** The forms that all mail programs of a language share. */
const repliesIn = (language: Language): ReadonlyArray<LabeledReply> => {
  const { apple, gmail, inline, name, old, own, phone, thunderbird } = language
  const both = own.join("\n\n")
  const quote = marked(old[0], "", old[1])
  return [
    { name: `Gmail, ${name}, above`, text: `${both}\n\n${named(gmail)}\n\n${quote}\n`, own: both },
    { name: `Gmail, ${name}, above, wrapped`, text: `${both}\n\n${wrapped(named(gmail))}\n\n${quote}\n`, own: both },
    {
      name: `Gmail, ${name}, between the lines`,
      text: `${named(gmail)}\n\n${marked(old[0])}\n\n${own[0]}\n\n${marked(old[1])}\n\n${own[1]}\n`,
      own: both
    },
    {
      name: `Apple Mail, ${name}, from a phone`,
      text: `${both}\n\n${phone}\n\n${marked(named(apple), "", old[0], "", old[1])}\n`,
      own: both,
      neutral: phone
    },
    {
      name: `Thunderbird, ${name}, below`,
      text: `${named(thunderbird)}\n${quote}\n\n${both}\n\n-- \nBob\n`,
      own: both,
      neutral: "-- \nBob"
    },
    {
      name: `Outlook, ${name}, above`,
      text: `${both}\n\n________________________________\n${headerOf(language)}\n\n${old.join("\n\n")}\n`,
      own: both,
      neutral: "________________________________"
    },
    {
      name: `Outlook, ${name}, without a line`,
      text: `${both}\n\n${headerOf(language)}\n\n${old.join("\n\n")}\n`,
      own: both
    },
    {
      name: `Outlook, ${name}, answers inside`,
      text: `${inline}\n\n${headerOf(language)}\n\n${old[0]}\n${own[0]}\n\n${old[1]}\n${own[1]}\n`,
      own: `${inline}\n${both}`,
      isUnmarkedInline: true
    }
  ]
}

export const LABELED_REPLIES: ReadonlyArray<LabeledReply> = [
  ...LANGUAGES.flatMap(repliesIn),
  ...SINGLE_REPLIES,
  ...LATER_REPLIES
]
