/** Longer texts are not searched for quotes. Replies are a hundredth of it. */
const TEXT_CHARACTERS = 128 * 1024

/** Limits of a line that introduces a quote, which mail programs wrap. They bound the work for each line. */
const INTRODUCTION_CHARACTERS = 400
const INTRODUCTION_LINES = 3
/** How many of the lines after From of a quoted header must name another of its fields. */
const HEADER_LINES = 3
const SIGNATURE_CHARACTERS = 200

/** "On … wrote:" in the languages of most mail programs. */
const WROTE =
  /wrote|écrit|escribió|scritto|escreveu|schrieb|schreef|skrev|kirjoitti|pisze|napisał|пишет|写道|寫道|작성|のメッセージ|書きました/
const OPENING = /^(?:On|Le|El|Il|Em|Am|Op|Den|pe|W dniu|Dnia|\p{L}{2,4}[,.]|在|于|\d)[\s\p{L}\d.,:/-]/u
/** A date, or an address in brackets. */
const DATED = /[\d<@]/
const ORIGINAL =
  /^-{1,12} ?(?:original message|forwarded message|oprindelig besked|message d['’]origine|ursprüngliche nachricht|mensaje original|messaggio originale) ?-{0,12}$/i
const FROM = /^\*?(?:From|Von|De|Van|Da|Fra|Från|Od|Lähettäjä|发件人|寄件者|差出人|보낸 사람)\*? ?[:：]/
const FIELD =
  /^\*?(?:Sent|Date|To|Subject|Gesendet|Datum|An|Betreff|Envoyé|À|Objet|Enviado|Fecha|Para|Asunto|Verzonden|Aan|Onderwerp|Inviato|Data|A|Oggetto|Sendt|Til|Emne|Skickat|Till|Ämne|Wysłano|Do|Temat|发送时间|收件人|主题|送信日時|宛先|件名)\*? ?[:：]/

const SIGNATURES = [
  /^\s*(?:-{2,4}|_{2,40}|\+{2,4}|={2,4})$/,
  /^(?:Sent from|Get Outlook for|Gesendet von|Sendt fra|Envoyé depuis|Envoyé de mon|Envoyé à partir de|Télécharger Outlook pour|Enviado desde|Inviato da|Verzonden vanaf|Verstuurd vanaf) \S/,
  /^Von .+ gesendet$/,
  /^(?:Cheers|Best wishes|Bien . vous|Bonne (?:journ.e|soir.e)|(?:[\p{L} ]{0,30} )?(?:regards|cordialement))[,!！]{0,2}$/iu
]

const isSignature = (line: string): boolean =>
  line.length <= SIGNATURE_CHARACTERS && SIGNATURES.some((signature) => signature.test(line))

/** Returns the index of the next line that is not empty. */
const nextText = (lines: ReadonlyArray<string>, start: number): number => {
  let at = start
  while (lines[at] === "") at++
  return at
}

/** Returns the number of lines from `at` on that introduce a quote, such as "On … wrote:"; 0 if they don't. */
const introductionAt = (lines: ReadonlyArray<string>, at: number): number => {
  let joined = ""
  for (let count = 1; count <= INTRODUCTION_LINES; count++) {
    const line = lines[at + count - 1]
    if (line === undefined || line === "" || line.startsWith(">")) return 0
    if (joined.length + line.length > INTRODUCTION_CHARACTERS) return 0
    joined = joined === "" ? line.replace(/^[-\s]+/, "") : `${joined} ${line.trimStart()}`
    if (count === 1 && !OPENING.test(joined) && !joined.includes("<")) return 0
    if (!/[:：]-*$/.test(line)) continue
    // Before marks, "On Monday, Ann wrote:" is enough.
    const isCertain = DATED.test(joined) || lines[nextText(lines, at + count)]?.startsWith(">") === true
    return WROTE.test(joined) && isCertain ? count : 0
  }
  return 0
}

/** Whether the original follows the line without marks, as Outlook writes it. */
const isOriginalAt = (lines: ReadonlyArray<string>, at: number): boolean => {
  const line = lines[at]!.trimStart()
  if (line.length > INTRODUCTION_CHARACTERS) return false
  return (
    ORIGINAL.test(line) ||
    (FROM.test(line) && lines.slice(at + 1, at + 1 + HEADER_LINES).some((next) => FIELD.test(next.trimStart())))
  )
}

/**
 * Returns the part of a text that its author wrote, without quotes and signature; null if nothing is left, or if the
 * text is too long. Every line is read a bounded number of times, whatever is in it.
 */
export const extractReply = (text: string | null): string | null => {
  if (text === null || text.length > TEXT_CHARACTERS) return null
  const lines = text.split(/\r?\n/).map((line) => line.trimEnd())
  const parts: Array<Array<string>> = [[]]
  let isSigned = false
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const introduction = introductionAt(lines, at)
    if (introduction > 0) {
      const quote = nextText(lines, at + introduction)
      // Without marks, the quote has no end that could be found.
      if (lines[quote]?.startsWith(">") !== true) break
      at = quote - 1
    } else if (isOriginalAt(lines, at)) break
    else if (line.startsWith(">")) {
      isSigned = false
      if (parts.at(-1)!.length > 0) parts.push([])
    } else {
      isSigned ||= isSignature(line)
      if (!isSigned) parts.at(-1)!.push(line)
    }
  }
  const written = parts.map((part) => part.join("\n").trim()).filter((part) => part !== "")
  return written.join("\n") || null
}
