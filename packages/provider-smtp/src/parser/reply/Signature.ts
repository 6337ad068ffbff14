import { comparable } from "./Lines.ts"

/** Devices and mail programs that add a signature to the mail written on them. */
const PROGRAM =
  /iphone|ipad|ipod|android|outlook|手机|手機|휴대폰|스마트폰|携帯|スマート|мобильн|почты|телефона|смартфона|\b(?:samsung|galaxy|blackberry|huawei|xiaomi|redmi|oppo|oneplus|xperia|motorola|nokia|htc|pixel|yahoo|proton ?mail|gmail|superhuman|zoho|bluemail|aol|gmx|k-9|fairemail|thunderbird|mailspring|airmail|verizon|t-mobile|mail (?:for|für|pour|para|per|voor) windows|windows mail|mail\.ru|(?:my|mein\p{L}{0,2}|mon|ma|mi|meu|mio|mijn|min|mitt|mojego|mého|můj) (?:smartphone|phone|handy|mobile|mobil|mobiltelefon|tablet|móvil|movil|celular|telefono|telefon|telefone|téléphone|mobiele telefoon|mobile (?:phone|device)))(?!\p{L}| room)/iu
const SENT =
  /^(?:sent (?:from|with|via) |gesendet (?:von|mit|über) |von .{1,40} gesendet|diese nachricht wurde von |envoyé (?:de|depuis|à partir|avec|du|par) |enviado (?:desde|do|de|del|com|con|a partir|pelo) |inviato (?:da|dal|con|dallo) |verzonden (?:vanaf|met|via) |verstuurd (?:vanaf|met|via) |sendt (?:fra|med|via) |skickat (?:från|med|via) |lähetetty |wysłan[eo] (?:z|za pomocą|przez) |odesláno (?:z|pomocí) |odoslané z|poslané z|отправлено (?:с|из|через) |надіслано (?:з|із|через) |στάλθηκε από |elküldve |küldve |trimis (?:de pe|din|cu) |έ|إرسال |أُرسلت من |أرسلت من |تم الإرسال من |مرسل من |נשלח מ|đã gửi từ |được gửi từ |gửi từ |dikirim dari |ส่งจาก|发自|來自我的|来自我的|從我的|从我的|由我的|通过)|(?:から送信|から送信されました|에서 보냄|에서 보냈습니다|에서 발송|gönderildi|készülékemről küldve|발송됨|傳送|发送)[。.]?$/iu
const GET_PROGRAM =
  /\boutlook\b.{0,60}(?:\bios\b|\bandroid\b|aka\.ms)|(?:\bios\b|\bandroid\b).{0,40}outlook|^yahoo mail\b.{0,60}(?:android|iphone)/iu
const SIGNATURE_CHARACTERS = 140
const SIGNATURE_WORDS = 12

/** Whether a line is one that a telephone or a mail program adds below a text, such as "Sent from my iPhone". */
const isProgramSignature = (line: string): boolean => {
  if (line === "" || line.length > SIGNATURE_CHARACTERS) return false
  if (GET_PROGRAM.test(line) && !/[.!?] \p{L}/u.test(line)) return true
  // "Sent from my desk, which is faster than a phone." is a sentence.
  return SENT.test(line) && PROGRAM.test(line) && !/[,;!?]/.test(line) && line.split(" ").length <= SIGNATURE_WORDS
}

/** Longer ends of a text are not signatures. */
const SIGNATURE_LINES = 12
/** After a separator without its space, which some programs remove, but which an author can draw too. */
const BARE_SIGNATURE_LINES = 6
const BARE_SIGNATURE_CHARACTERS = 80

/** The words of an author below a signature. */
const isPostscript = (line: string): boolean => /^(?:p\. ?s\.?|ps|n\.? ?b\.?)(?:[\s:.,]|$)/iu.test(line)

/** Returns the index of the separator of a signature (RFC 3676, section 4.3): two dashes and a space; -1 without one. */
const separatorAt = (lines: ReadonlyArray<string>): number => {
  const at = lines.lastIndexOf("-- ")
  if (at >= 0) return lines.length - at <= SIGNATURE_LINES + 1 ? at : -1
  const bare = lines.indexOf("--")
  const below = lines.slice(bare + 1)
  const isSignature =
    bare > 0 &&
    below.length <= BARE_SIGNATURE_LINES &&
    below.every((line) => line !== "--" && line.length <= BARE_SIGNATURE_CHARACTERS)
  return isSignature ? bare : -1
}

/** Returns lines without the signature at their end. */
export const withoutSignature = (written: ReadonlyArray<string>): Array<string> => {
  let end = written.length
  while (end > 0 && written[end - 1]!.trim() === "") end--
  const lines = written.slice(0, end)
  const separator = separatorAt(lines)
  if (separator >= 0) {
    const postscript = lines.findIndex((line, at) => at > separator && isPostscript(line.trim()))
    lines.splice(separator, (postscript < 0 ? lines.length : postscript) - separator)
  }
  while (lines.length > 0 && (lines.at(-1)!.trim() === "" || isProgramSignature(comparable(lines.at(-1)!)))) lines.pop()
  return lines
}
