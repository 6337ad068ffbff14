/** The meaning of a field in the header that a mail program writes above the message that it quotes. */
export type Field = "from" | "date" | "to" | "subject" | "copy"

/** The labels of these fields in mail programs of many languages, in lower case. */
const LABELS: Readonly<Record<Field, string>> = {
  from: "from|von|de|van|da|fra|från|od|lähettäjä|feladó|de la|expeditor|expeditorul|kimden|gönderen|от|от кого|отправитель|від|від кого|από|发件人|發件人|寄件者|寄件人|差出人|送信者|送信元|보낸 사람|보낸사람|발신자|من|מאת|từ|người gửi|จาก|dari|šalje|mittente|nadawca|remitente|remetente|expéditeur|absender|afzender|avsändare|afsender|avsender|odesílatel|odosielateľ|saatja|nuo|no|pošiljatelj|из|از",
  date: "sent|date|gesendet|datum|envoyé|envoyé le|enviado|enviado el|enviado em|enviada|enviada em|fecha|data|verzonden|inviato|sendt|dato|skickat|lähetetty|päivämäärä|päiväys|wysłano|odesláno|odoslané|odesláno dne|dátum|elküldve|küldve|küldés dátuma|trimis|trimisă|dată|data trimiterii|gönderildi|gönderilme tarihi|gönderme tarihi|gönderim tarihi|tarih|отправлено|дата|дата отправки|надіслано|дата надсилання|στάλθηκε|εστάλη|απεσταλμένα|ημερομηνία|发送时间|发送日期|發送時間|傳送時間|寄件日期|日期|时间|送信日時|送信日|日時|日付|보낸 날짜|보낸날짜|보낸 시간|날짜|발신일|تاريخ الإرسال|تم الإرسال|التاريخ|إرسال|נשלח|תאריך|đã gửi|ngày|ngày gửi|gửi|thời gian|dikirim|terkirim|tanggal|วันที่|ส่ง|ส่งเมื่อ|poslano|saadetud|išsiųsta|data|nosūtīts|datums|kuupäev|изпратено|poslané|enviat el|ارسال شده|تاریخ",
  to: "to|an|à|a|pour|para|aan|til|till|vastaanottaja|do|komu|pre|címzett|către|catre|kime|alıcı|кому|до|προς|收件人|收件者|宛先|送信先|받는 사람|받는사람|수신자|수신|إلى|אל|đến|tới|người nhận|kepada|ke|untuk|ถึง|prima|destinatario|destinatário|destinataire|kam|adressaat|saaja|empfänger|za|до кого|per a|به",
  subject:
    "subject|betreff|objet|sujet|asunto|assunto|onderwerp|oggetto|emne|ämne|aihe|temat|předmět|predmet|tárgy|subiect|subiectul|konu|тема|θέμα|主题|主旨|主題|件名|제목|الموضوع|נושא|chủ đề|tiêu đề|subjek|perihal|judul|เรื่อง|naslov|teema|tema|tēma|zadeva|assumpte|موضوع",
  copy: "cc|kopie|kopie (cc)|copie|copie à|copia|cópia|kopi|kopia|kopio|dw|udw|másolat|másolatot kap|bilgi|копия|копія|κοιν|κοινοποίηση|抄送|副本|참조|نسخة|עותק|עותק לידיעה|bcc|ccn|reply-to|importance|priority|wichtigkeit|importancia|importanza|wichtig|attachments|anlagen|priorität"
}

const FIELDS: ReadonlyMap<string, Field> = new Map(
  Object.entries(LABELS).flatMap(([field, labels]) =>
    labels.split("|").map((label) => [label, field as Field] as const)
  )
)

/** Longer labels do not exist. */
const LABEL_CHARACTERS = 30

/** Returns the field that a line names before its colon, as in `*Sent:* Monday`; undefined if it names none. */
export const fieldOf = (line: string): Field | undefined => {
  const colon = line.slice(0, LABEL_CHARACTERS).search(/[:：]/)
  return colon < 1 ? undefined : FIELDS.get(line.slice(0, colon).replaceAll(/[*|]/g, "").trim().toLowerCase())
}
