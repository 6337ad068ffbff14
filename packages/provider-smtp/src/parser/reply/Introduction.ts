import { NEXT_LINES_CHARACTERS } from "./Lines.ts"

/** "wrote" as mail programs say it above a quotation. */
const WROTE = new RegExp(
  [
    String.raw`\b(?:wrote|writes|said|schrieb|geschrieben|schreef|geschreven|geskryf|skrev|escreveu|kirjoitti|pisze|napsala?|napísala?|scritto|scris|menulis|napisao|napisala?|escribiu|idatzi|sumulat|aliandika|kirjutas|quoting|zitat von|citando)\b`,
    "rašė|rakstīja|skrifaði|نوشت|लिखा|লিখেছেন|écrit|escribió|napisał|nadesłał|írta|yazdı|yazmış|skrev|пишет|писал|написал|пише|писав|написа|έγραψε|写道|寫道|写了|作成|のメッセージ|のメール|書きました|작성|쓴 글|님이 쓰신|썼습니다|كتب|كتابة|כתב|מאת|đã viết|viết|เขียน"
  ].join("|"),
  "iu"
)
/** The beginning of an introduction that begins with its date. */
const DATE_FIRST =
  /^(?:on|in a message dated|at|le|el|il|il giorno|in data|em|no dia|am|op|den|dne|dňa|pe|w dniu|dnia|în|la|στις|vào|vào lúc|pada|pada tanggal|ngày|ในวันที่|เมื่อ|في|בתאריך|ב-|на|у|в|od|u|quoting|zitat von|citando|missatge de|mensaje de)[\s\p{Nd}]|^[在于於]|^\p{Nd}|^\p{L}{1,13}\.?,? \p{Nd}|^\p{L}{1,13}\.?,? \p{L}{2,9}\.? \p{Nd}{1,2},/iu
const ADDRESS = /[^\s<>()[\]]@[^\s<>()[\]]/
/** The beginning of an introduction that begins with a name and its address, or with a name and "wrote". */
const NAME_FIRST = /^["'“„«]?[\p{L}\p{N}.,'"”» /-]{0,60}[<([]? ?[^\s<>()[\]]{1,80}@/u
const SHORT_NAME = /^["'“„«]?\p{L}[^\s]{0,30}(?: [^\s]{1,30}){0,3} ?[^\s]{0,20}[:：]$/u
const DATE = /(?<!\p{Nd})\p{Nd}{4}(?!\p{Nd})|\p{Nd}{1,2}[-./]\s?\p{Nd}{1,2}[-./]\s?\p{Nd}{2,4}/u
const TIME = /\p{Nd}{1,2}[:.h]\p{Nd}{2}/u
/** Words of an author who speaks: mail programs write none of them. Names such as Ben and My are capitalized. */
const SPEAKER =
  /(?:^|[\s,(])(?:I|we|you|he|she|they|who|please|ich|wir|ihr|nous|vous|yo|nosotros|usted|ustedes|io|noi|eu|nós|você|wij|jullie|jeg|jag|minä|ja|já|я|мы|вы|он|она|они|ben|biz|siz|εγώ|εμείς|私|我|你|您|他|她|我们|저는|제가|أنا|أنت|אני|אתה|tôi|bạn)(?=[\s,):：]|$)|^(?:We|You|He|She|They|The|Please|As|What|Also|But|And|Here|This|That|Ich|Wir|Nous|Je|Yo|Io)\s/u
/** Articles, which a name can have too. */
const ARTICLE = /(?:^|[\s,(])(?:the|my|our|your|der|die|das)(?=[\s,):：]|$)/u
const BRACKETED = /[<(][^<>()\s]{0,80}\s?[^<>()\s]{1,80}@[^<>()\s]{1,80}\s?[>)]/
/** The whole of an introduction without a verb: a date, a name and an address. */
const DATE_AND_ADDRESS = /^(?:\p{Nd}|\p{L}{2,13}\.?, ?\p{Nd}).{8,150}<[^\s<>]{1,80}@[^\s<>]{1,80}> ?[:：]$/u
const ENDING = /[:：]\s?-*$/
/** Endings without a colon, as Zoho writes them. */
const isUnfinished = (line: string): boolean =>
  (line.startsWith("--") && line.endsWith("--")) || (line.endsWith(" wrote") && line.includes("@"))
const INTRODUCTION_LINES = 4

/** Whether a name can stand here: "Ada Lovelace wrote:" and not "The vendor also wrote:". */
const isShort = (text: string): boolean => SHORT_NAME.test(text) && !ARTICLE.test(text)

/**
 * Returns how many of the lines that end with `last` introduce a quotation, such as "On …, Ada wrote:"; 0 if they don't.
 * `isMarked` tells that a line with a quote mark follows. Without one, only a date with an address and a verb is certain.
 */
export const introductionAt = (lines: ReadonlyArray<string>, last: number, isMarked: boolean): number => {
  const end = lines[last]!
  if (end.length > NEXT_LINES_CHARACTERS || (!ENDING.test(end) && !isUnfinished(end))) return 0
  let joined = ""
  for (let count = 1; count <= INTRODUCTION_LINES; count++) {
    const line = lines[last - count + 1]
    if (line === undefined || line === "" || line.length + joined.length > NEXT_LINES_CHARACTERS) break
    if (count > 1 && endsSentence(line, joined)) break
    joined = joined === "" ? line : `${line} ${joined}`
    if (isIntroduction(joined.replace(/^[-*\s]+/, ""), isMarked, count)) return count + opening(lines, last - count)
  }
  const alone = end.replace(/^[-*\s]+/, "")
  if (!isMarked || SPEAKER.test(alone) || !WROTE.test(alone)) return 0
  return isShort(alone) || NAME_FIRST.test(alone) || DATE_FIRST.test(alone) ? 1 : 0
}

/** Whether a line ends a sentence before the line that follows. "Sept." and "2026" are one date. */
const endsSentence = (line: string, next: string): boolean =>
  /[!?。！？;]$/.test(line) || (line.endsWith(".") && !/^[\p{Nd}\p{Ll}<(]/u.test(next)) || ENDING.test(line)

const isIntroduction = (text: string, isMarked: boolean, count: number): boolean => {
  const hasDate = DATE.test(text)
  const hasTime = TIME.test(text)
  if (!hasDate && !hasTime && !(isMarked && count > 1 && DATE_FIRST.test(text))) return false
  const spoken = text.replaceAll(/[<("][^<>()"]{0,100}[>)"]/g, "")
  if (SPEAKER.test(spoken)) return false
  const isBracketed = BRACKETED.test(text)
  const isComplete = hasDate && hasTime && isBracketed
  if (ARTICLE.test(spoken) && !(isComplete && DATE_FIRST.test(text))) return false
  const hasAddress = ADDRESS.test(text)
  const isOpened = DATE_FIRST.test(text) || (hasAddress && NAME_FIRST.test(text))
  const hasVerb = WROTE.test(text)
  if (!isMarked && !hasVerb) return hasDate && hasTime && DATE_AND_ADDRESS.test(text)
  if (!isMarked) return hasDate && hasAddress && isOpened
  // In a language that is not known, a date, a time and an address in brackets are certain.
  if (isComplete && text.length <= COMPLETE_CHARACTERS) return true
  if (hasVerb) return hasDate || hasTime ? isOpened || (count === 1 && text.length < 120) : isOpened && hasAddress
  return hasAddress && isOpened
}

const COMPLETE_CHARACTERS = 200

/** Returns 1 if the line above belongs to the introduction: mail programs wrap it within the date. */
const opening = (lines: ReadonlyArray<string>, at: number): number => {
  const line = lines[at]
  const isWrapped =
    line !== undefined &&
    line.length <= NEXT_LINES_CHARACTERS &&
    /^(?:On|Le|El|Il|Em|Am|Op|Den|Dne|Dnia|W dniu|În|Στις|Vào|Pada) /u.test(line) &&
    /\p{Nd}[\p{Nd},]{0,4}$|\p{Nd}{4}.{0,12}$/u.test(line) &&
    !SPEAKER.test(line)
  return isWrapped ? 1 : 0
}
