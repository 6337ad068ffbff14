import type { DeliveryReport } from "@agentos/core"
import type { Email } from "postal-mime"
import { specificStatus } from "./StatusCode.ts"
import { headerText } from "./TextLimits.ts"

/** The beginning of the text that is searched. The original message follows the failure. */
const TEXT_CHARACTERS = 8 * 1024
const REASON_CHARACTERS = 500
const LINE_CHARACTERS = 1_000

/** The line after which a server quotes the message that it could not deliver. */
const ORIGINAL =
  /^[-\s]*(?:below this line is|this is a copy of|original message|message headers? follow|included is a copy|the first \d+ lines|received:|return-path:)/im

/** qmail's report, of which the first line is fixed (QSBMF, https://cr.yp.to/proto/qsbmf.txt). */
const QMAIL = /^\s*Hi\. This is the\b/

const MAIL_SYSTEM_ADDRESS =
  /^(?:mailer[-_.]?daemon|mail[-_.]?daemon|mdaemon|postmaster|ndr|mailadm|mail[-_.]?delivery[-_.]?(?:sub)?system)(?:\W|$)/i
const MAIL_SYSTEM_NAME =
  /mail(?:er)?[- ](?:delivery|system|daemon|administrator|service)|delivery (?:sub)?system|system administrator|postmaster/i

/** "Could not be delivered" in other languages. */
const FAILED_ABROAD =
  "unzustellbar|nicht zugestellt|non remis|pas pu (?:être|etre) (?:délivré|remis|delivre)|no se (?:pudo|ha podido) entregar|" +
  "não foi possível entregar|mancato recapito|non (?:è|e) stato possibile (?:recapitare|consegnare)|" +
  "niet worden (?:afgeleverd|bezorgd)|nie (?:została|mogła) (?:być )?dostarczon|не (?:может быть )?доставлен|" +
  "无法(?:发送|送达|投递)|退信|(?:投递|发送)失败|無法(?:傳送|遞送|送達)|配信(?:できません|不能|エラー)|전송(?:할 수 없|에? ?실패)"

const FAILED_SUBJECT = new RegExp(
  `undeliver|deliver\\w* (?:has )?(?:fail|error)|failure (?:notice|delivery)|fail\\w* (?:mail|delivery)|returned mail|return\\w* (?:to|message to) sender|mail (?:could not|system error|error|failed)|non-?delivery|could ?n[o']t be delivered|delivery (?:problem|failure|report|status)|(?:not|during) deliver|user unknown|${FAILED_ABROAD}`,
  "i"
)

/** The message was not delivered yet, and the server goes on trying. */
const DELAYED =
  /\bdelay|not yet been deliver|(?:will|is|are|being|be) (?:still |continue to |keep )?(?:be )?(?:re-?)?(?:tried|try(?:ing)?)\b|will (?:continue|keep)|still (?:being|trying)|postponed|do ?n[o']t need to resend|no action is required on your part|warning message only/i
/** The server says that it has stopped trying, which such words may be a part of. */
const GIVEN_UP = /(?:not|n't) (?:going to )?(?:re-?)?try|giv(?:en|ing) up|permanent|no longer/i

const FAILED = new RegExp(
  `could ?n[o']t (?:be )?(?:deliver|sen[dt])|can(?:not|'t) (?:be )?deliver|unable to (?:be )?(?:deliver|relay)|not (?:be |been )?(?:deliver|sent|accepted)|undeliver|deliver[^.\\n]{0,80}fail|fail[^.\\n]{0,40}deliver|fail(?:ed|ure) permanently|permanent(?:ly)? |no such|not found|not (?:a )?(?:known|valid|listed)|unknown|unavailable|does ?n[o']t (?:have|exist)|did not reach|quota|mailbox (?:is )?full|rejected|returned|bounced|\\b5\\d\\d[ -]|\\b5\\.\\d{1,3}\\.\\d{1,3}\\b|${FAILED_ABROAD}`,
  "i"
)
/** Words that mean nothing else, so that with the subject they are enough whoever the author is. */
const CERTAIN = new RegExp(
  `could ?n[o']t (?:be )?deliver|unable to deliver|failed recipient|non-?delivery report|automatically rejected|${FAILED_ABROAD}`,
  "i"
)
/** Where such words are expected. */
const CERTAIN_CHARACTERS = 500
const ANSWER_SUBJECT = /auto(?:matic)?[- ]?(?:reply|response)|vacation|out of (?:the )?office/i
/** A line that says why. */
const REASON = /\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b|no such|unknown|not found|quota|full|sorry|reason|error:/i

/** Returns the words of the server: without the message that it returns, and without quotes. */
const withoutOriginal = (text: string): string => {
  const original = ORIGINAL.exec(text)
  return (original === null || original.index === 0 ? text : text.slice(0, original.index)).replaceAll(/^>.*$/gm, "")
}

const reasonIn = (text: string): string | null => {
  const lines = text.split(/\r?\n/).filter((line) => line.length <= LINE_CHARACTERS && line.trim() !== "")
  const line = lines.find((each) => REASON.test(each)) ?? lines.find((each) => FAILED.test(each))
  return line === undefined ? null : headerText(line, REASON_CHARACTERS)
}

const reported = (action: "failed" | "delayed", text: string): DeliveryReport => {
  const diagnostic = reasonIn(text)
  const status = specificStatus("", text.replaceAll(/\s+/g, " ")) || (action === "failed" ? "5.0.0" : "4.0.0")
  return { _tag: "DeliveryStatus", recipients: [{ original: null, final: null, action, status, diagnostic }] }
}

/**
 * Returns the failure or the delay that a mail system reports in text alone: in the forms of qmail and Exim, or in words, if
 * the author is a mail system. Undefined for any other mail, above all for the answers of persons and their programs.
 */
export const readTextBounce = (
  { from, headers, subject = "" }: Pick<Email, "from" | "headers" | "subject">,
  text: string | null
): DeliveryReport | undefined => {
  const whole = (text ?? "").slice(0, TEXT_CHARACTERS)
  if (QMAIL.test(whole) || headers.some(({ key }) => key === "x-failed-recipients")) {
    return reported("failed", withoutOriginal(whole))
  }
  if (ANSWER_SUBJECT.test(subject)) return undefined
  const author = `${from?.address ?? ""} ${from?.name ?? ""}`
  const isMailSystem = MAIL_SYSTEM_ADDRESS.test(author) || MAIL_SYSTEM_NAME.test(author) || (from?.address ?? "") === ""
  // Most mail ends here, before its text is searched.
  if (!isMailSystem && !FAILED_SUBJECT.test(subject)) return undefined
  const said = withoutOriginal(whole)
  if (!isMailSystem && !CERTAIN.test(said.slice(0, CERTAIN_CHARACTERS))) return undefined
  if ((DELAYED.test(subject) || DELAYED.test(said)) && !GIVEN_UP.test(said)) return reported("delayed", said)
  return FAILED_SUBJECT.test(subject) || FAILED.test(said) ? reported("failed", said) : undefined
}
