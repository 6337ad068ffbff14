import { fieldOf } from "./Labels.ts"

/** "Original message" between dashes. */
const ORIGINAL =
  /^[-_=*]{2,40} ?(?:(?:start of )?original(?: (?:message|e-?mail|mail|appointment|nachricht|melding))?|reply message|oprindelig (?:besked|meddelelse)|message (?:d['’]origine|original|initial)|ursprüngliche (?:nachricht|mail|e-mail)|original-?nachricht|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|opprinnelig melding|ursprungligt meddelande|originalmeddelande|alkuperäinen viesti|(?:wiadomość oryginalna|oryginalna wiadomość)|původní (?:zpráva|e-mail)|pôvodná správa|eredeti üzenet|mesaj(?:ul)? original|orijinal (?:mesaj|ileti)|özgün ileti|(?:исходное|оригинальное) (?:сообщение|письмо)|(?:оригінальне|початкове|вихідне) повідомлення|αρχικό μήνυμα|原始邮件|原邮件|原始郵件|原始信件|原始訊息|元のメッセージ|オリジナルメッセージ|원본 ?메시지|원본 ?메일|الرسالة الأصلية|הודעה מקורית|thư gốc|tin nhắn gốc|pesan asli|ข้อความต้นฉบับ) ?[-_=*]{0,40}$/iu

/** A forwarded message follows. */
const FORWARDED =
  /forward|weitergeleitet|transféré|transmis|réexpédié|reenviad|reencaminhad|encaminhad|inoltrat|doorgestuurd|videresen|vidarebefordra|välitetty|edelleenlähetetty|przekazan|przekazywan|przesłan|přeposlan|přeposílan|preposlan|továbbított|redirec|iletil|[iİ]leti başlangıcı|пересыла|пересил|переслан|переадрес|перенаправ|转发|轉寄|転送|전달|προωθ|שהועברה|מועבר|محولة|إعادة توجيه|chuyển tiếp|diteruskan|ส่งต่อ|proslijeđen/iu
const isBetweenDashes = (line: string): boolean => line.startsWith("--") && line.endsWith("--")
/** Apple Mail, which writes no dashes. */
const BEGINS =
  /^(?:begin |forwarded |započni |İleti |anfang |inicio |início |début |inizio |start |začátek |začiatok |początek |vidarebefordrat |videresendt |välitetty |továbbított |începe |начало |початок |ileti |転送|전달|已转发)/iu

/** The line above which ticket systems expect the reply. */
const REPLY_ABOVE =
  /\b(?:reply|respond|answer|type|write|enter)\b.{0,60} above (?:this|the) (?:dotted )?(?:line|e-?mail|message)|do not (?:write|type|reply) below this line|oberhalb dieser (?:zeile|linie)|(?:über|ober) diese[rs]? (?:zeile|linie)|au-dessus de cette ligne|(?:encima|arriba) de esta línea|acima desta linha|sopra (?:a )?questa (?:riga|linea)|boven deze (?:regel|lijn)|over denne linj[ea]|ovanför (?:den här|denna) (?:linjen|raden|rad|linje)|(?:выше|над) этой (?:строк|лини|черт)|(?:вище цього|над цим) рядк|powyżej te(?:j linii|go wiersza)|nad (?:t[uo]?to?|tento) ?(?:řádk|řádek|čár|riad)|bu satırın üz|tämän rivin yläpuol|e sor fölé|deasupra acestei linii|πάνω από αυτή|この(?:行|線)(?:より|の)上|此[行线線](?:以上|上方|之上)|이 (?:줄|선) 위/iu

export const isOriginalLine = (line: string): boolean => line.length <= 120 && ORIGINAL.test(line)

export const isForwardedLine = (line: string): boolean =>
  line.length <= 120 && (isBetweenDashes(line) || (/[:：]$/.test(line) && BEGINS.test(line))) && FORWARDED.test(line)

export const isReplyAboveLine = (line: string): boolean => line.length <= 200 && REPLY_ABOVE.test(line)

/** How ticket systems set that line apart from the words of a person. */
const SET_APART = /^(?:[#*=_~—–-]{2}|[-=*] ?[-=*]|[—–] |[[{(].*[\]})]$)|ABOVE THIS (?:LINE|EMAIL|MESSAGE)/u

/** Whether a line at the beginning of a mail is that of a ticket system and none of its author. */
export const isReplyAboveMarker = (line: string): boolean => isReplyAboveLine(line) && SET_APART.test(line)

/** How many lines the header of a quoted message may have, with lists of recipients that are wrapped. */
const HEADER_LINES = 14
const VALUE = /[\p{Nd}]/u

/**
 * Returns how many lines from `at` on are the header of a quoted message without quote marks, as Outlook writes it; 0 if
 * they are not. From with a subject and a date or a recipient is certain, and From with an address and a date.
 */
export const headerAt = (lines: ReadonlyArray<string>, at: number): number => {
  const first = fieldOf(lines[at]!)
  if (first === undefined || first === "copy" || first === "subject") return 0
  const found = new Set<string>()
  let hasAddress = false
  let hasDate = false
  let length = 0
  for (let next = at; next < lines.length && next < at + HEADER_LINES; next++) {
    const line = lines[next]!
    const field = fieldOf(line)
    if (line === "") {
      // Fields that are paragraphs of their own.
      if (found.size > 3 || fieldOf(lines[next + 1] ?? "") === undefined) break
    } else if (field === undefined) {
      if (next === at + length + 3) break
    } else {
      if (found.has(field) && field !== "copy") break
      found.add(field)
      hasAddress ||= field === "from" && line.includes("@")
      hasDate ||= field === "date" && VALUE.test(line)
      length = next - at + 1
    }
  }
  const isCertain =
    found.has("from") &&
    ((found.has("subject") && (hasDate || (found.has("to") && hasAddress))) || (hasAddress && hasDate))
  return isCertain ? length : 0
}
