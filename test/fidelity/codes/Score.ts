import { confirmationLink, oneTimeCode, type ReadableMail } from "@agentos/core"
import { textOfHtml } from "../../../packages/provider-smtp/src/parser/HtmlText.ts"
import { LABELED_MAILS } from "./LabeledMails.ts"
import type { LabeledMail } from "./LabeledMail.ts"

/** A reader's results in the labeled mails: the right code or link, or rightly nothing; one missed; or a wrong one. */
export interface Score {
  readonly right: number
  readonly missed: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
}

/** Returns a mail as a record has it: one without a text has what its HTML shows. */
export const asRecord = (mail: LabeledMail): LabeledMail => ({
  ...mail,
  text: mail.text ?? textOfHtml(mail.html ?? "")
})

export const scoreOf = (
  mails: ReadonlyArray<LabeledMail>,
  part: "code" | "link",
  read: (mail: LabeledMail) => string | undefined
): Score => {
  const missed: Array<string> = []
  const wrong: Array<string> = []
  for (const mail of mails) {
    const found = read(mail) ?? null
    if (found === mail[part]) continue
    const line = `${mail.language} ${mail.form}: ${found} instead of ${mail[part]}`
    ;(found === null ? missed : wrong).push(line)
  }
  return { right: mails.length - missed.length - wrong.length, missed, wrong }
}

export const RECORDS = LABELED_MAILS.map(asRecord)

const readers = {
  code: (mail: ReadableMail) => oneTimeCode(mail),
  link: (mail: ReadableMail) => confirmationLink(mail)
}

/** Returns the score of the service for a part of mail. */
export const ownScore = (part: "code" | "link", mails: ReadonlyArray<LabeledMail> = RECORDS): Score =>
  scoreOf(mails, part, readers[part])
