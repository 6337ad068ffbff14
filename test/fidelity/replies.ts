import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { extractReply } from "../../packages/provider-smtp/src/parser/ExtractReply.ts"
import { LANGUAGES } from "../../packages/provider-smtp/test/replies/Languages.ts"
import type { LabeledReply } from "../../packages/provider-smtp/test/replies/LabeledReply.ts"
import { LABELED_REPLIES } from "../../packages/provider-smtp/test/replies/Replies.ts"
import { score } from "../../packages/provider-smtp/test/replies/Score.ts"
import type { Subject } from "./Subject.ts"

/** Other libraries with the same task, as they are installed. */
const PACKAGES = ["email-reply-parser@2.3.7", "node-email-reply-parser@0.1.4", "planer@1.2.0"] as const

/** Returns a share in percent, with one digit; it is 100 only if nothing is missing. */
const percent = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`

type Reader = (reply: LabeledReply) => string | null

const peersIn = async (folder: string): Promise<ReadonlyArray<readonly [name: string, read: Reader]>> => {
  const options = ["--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
  execFileSync("npm", ["install", ...options, ...PACKAGES], { stdio: ["ignore", "ignore", "inherit"] })
  const load = createRequire(join(folder, "package.json"))
  const { default: EmailReplyParser } = (await import(pathToFileURL(load.resolve("email-reply-parser")).href)) as {
    readonly default: new () => { readonly parseReply: (text: string) => string }
  }
  const crisp = new EmailReplyParser()
  const nodeParser = load("node-email-reply-parser") as (text: string, isVisibleTextOnly: boolean) => string
  const planer = load("planer") as { readonly extractFrom: (text: string, type: "text/plain") => string }
  const readers: ReadonlyArray<Reader> = [
    ({ text }) => crisp.parseReply(text),
    ({ text }) => nodeParser(text, true),
    ({ text }) => planer.extractFrom(text, "text/plain")
  ]
  return PACKAGES.map((name, index) => [name.replace("@", " "), readers[index]!] as const)
}

const rowOf = (name: string, read: Reader): string => {
  const all = score(LABELED_REPLIES, read)
  const inMarks = score(
    LABELED_REPLIES.filter(({ isUnmarkedInline }) => isUnmarkedInline !== true),
    read
  )
  const { kept, losing, own } = all
  const { leaving, quoted, removed } = inMarks
  const wrong = quoted - removed
  const ownInMarks = inMarks.kept
  const precision = percent(ownInMarks, ownInMarks + wrong)
  return `| ${name} | ${percent(kept, own)} | ${losing.length} | ${precision} | ${percent(removed, quoted)} | ${leaving.length} |`
}

/** The part of a reply that its author wrote, beside other libraries. */
export const replies: Subject = {
  heading: "Replies",
  summary: "extracts the new part of replies in a labeled set, beside three libraries",
  measure: async (folder) => {
    const peers = await peersIn(folder)
    const own = (reply: LabeledReply) => extractReply(reply.text, reply.kind)
    const inline = LABELED_REPLIES.filter(({ isUnmarkedInline }) => isUnmarkedInline === true).length
    const section = [
      `${LABELED_REPLIES.length} labeled texts in ${LANGUAGES.length} languages (packages/provider-smtp/test/replies): the words are written for this set, the forms are`,
      `those of mail programs and ticket systems. ${inline} have answers inside a quotation without marks, and count only for words kept.`,
      "",
      "| reader | author's lines kept | mails that lose some | kept lines that are the author's | quoted lines removed | mails that keep some |",
      "| --- | ---: | ---: | ---: | ---: | ---: |",
      rowOf("extractedText", own),
      ...peers.map(([name, read]) => rowOf(name, read)),
      "",
      "Signatures of programs and below `-- ` count as neither. A forwarded message is not a quotation. Where a reader returns null,",
      "the whole text counts, since a client reads `text` then.",
      "",
      "The set was used to write the reader, so its row shows that no known form fails, and not what unknown mail does. 79 of the",
      "texts were written afterwards (`LaterReplies.ts`). On their first run, all 182 lines of authors were kept, and 188 of 224",
      "quoted lines (83.9 %) were removed; the libraries kept 163, 164 and 177 lines and removed 156, 167 and 126.",
      "",
      "| falls short | what happens |",
      "| --- | --- |",
      '| a quotation without marks below "On …, Ada wrote:" without an address | it stays |',
      "| answers inside a quotation of Outlook, which nothing announces and no line marks | they are left out, and `hasOmittedText` is true |",
      "| the author's own lines with `>` below a quotation with marks, such as a shell session | they are left out, and `hasOmittedText` is true |",
      '| an announcement such as "see below" in a reply above a quotation of Outlook | the quotation stays |',
      "| a footer of a mailing list, a disclaimer | it stays |"
    ].join("\n")
    return {
      section,
      faults: score(LABELED_REPLIES, own).losing.map((name) => `words are lost: ${name}`)
    }
  }
}
