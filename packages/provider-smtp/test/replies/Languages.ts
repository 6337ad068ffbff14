/**
 * How mail programs introduce a quotation in a language, with texts written for this set. `{A}` is the name of the quoted
 * author, `<{a}>` the address.
 */
export interface Language {
  readonly name: string
  /** The text of the reply's author: two paragraphs. */
  readonly own: readonly [string, string]
  /** The quoted text: two questions. */
  readonly old: readonly [string, string]
  readonly gmail: string
  readonly apple: string
  readonly thunderbird: string
  /** Labels and date of the header that Outlook writes. */
  readonly outlook: readonly [from: string, date: string, to: string, subject: string]
  /** What an iPhone adds. */
  readonly phone: string
  /** "My answers are below, in red." */
  readonly inline: string
}

const language = (
  name: string,
  own: Language["own"],
  old: Language["old"],
  introductions: readonly [gmail: string, apple: string, thunderbird: string],
  outlook: Language["outlook"],
  phone: string,
  inline: string
): Language => {
  const [gmail, apple, thunderbird] = introductions
  return { name, own, old, gmail, apple, thunderbird, outlook, phone, inline }
}

export const LANGUAGES: ReadonlyArray<Language> = [
  language(
    "English",
    ["The large one, please.", "Send it to the office."],
    ["Which size do you need?", "Where shall we send it?"],
    [
      "On Mon, Sep 14, 2026 at 9:12\u202fAM {A} <{a}> wrote:",
      "On Sep 14, 2026, at 9:12\u202fAM, {A} <{a}> wrote:",
      "On 9/14/26 09:12, {A} wrote:"
    ],
    ["From", "Sent: Monday, September 14, 2026 9:12 AM", "To", "Subject"],
    "Sent from my iPhone",
    "My answers are below in red."
  ),
  language(
    "German",
    ["Bitte die große.", "Ins Büro, danke."],
    ["Welche Größe brauchst du?", "Wohin sollen wir sie schicken?"],
    [
      "Am Mo., 14. Sept. 2026 um 09:12 Uhr schrieb {A} <{a}>:",
      "Am 14.09.2026 um 09:12 schrieb {A} <{a}>:",
      "Am 14.09.26 um 09:12 schrieb {A}:"
    ],
    ["Von", "Gesendet: Montag, 14. September 2026 09:12", "An", "Betreff"],
    "Von meinem iPhone gesendet",
    "Meine Antworten stehen unten im Text."
  ),
  language(
    "French",
    ["La grande, s'il te plaît.", "Au bureau, merci."],
    ["Quelle taille te faut-il ?", "Où devons-nous l'envoyer ?"],
    [
      "Le lun. 14 sept. 2026 à 09:12, {A} <{a}> a écrit :",
      "Le 14 sept. 2026 à 09:12, {A} <{a}> a écrit :",
      "Le 14/09/2026 à 09:12, {A} a écrit :"
    ],
    ["De ", "Envoyé : lundi 14 septembre 2026 09:12", "À ", "Objet "],
    "Envoyé de mon iPhone",
    "Mes réponses sont ci-dessous."
  ),
  language(
    "Spanish",
    ["La grande, por favor.", "A la oficina, gracias."],
    ["¿Qué talla necesitas?", "¿Adónde la enviamos?"],
    [
      "El lun, 14 sept 2026 a las 9:12, {A} (<{a}>) escribió:",
      "El 14 sept 2026, a las 9:12, {A} <{a}> escribió:",
      "El 14/9/26 a las 9:12, {A} escribió:"
    ],
    ["De", "Enviado: lunes, 14 de septiembre de 2026 9:12", "Para", "Asunto"],
    "Enviado desde mi iPhone",
    "Respondo abajo, en rojo."
  ),
  language(
    "Portuguese (Brazil)",
    ["A grande, por favor.", "No escritório, obrigado."],
    ["Qual tamanho você precisa?", "Para onde enviamos?"],
    [
      "Em seg., 14 de set. de 2026 às 09:12, {A} <{a}> escreveu:",
      "Em 14 de set. de 2026, à(s) 09:12, {A} <{a}> escreveu:",
      "Em 14/09/2026 09:12, {A} escreveu:"
    ],
    ["De", "Enviado: segunda-feira, 14 de setembro de 2026 09:12", "Para", "Assunto"],
    "Enviado do meu iPhone",
    "Respondi abaixo de cada pergunta."
  ),
  language(
    "Portuguese (Portugal)",
    ["A grande, se faz favor.", "Para o escritório."],
    ["Que tamanho precisa?", "Para onde enviamos?"],
    [
      "{A} <{a}> escreveu (segunda, 14/09/2026 à(s) 09:12):",
      "No dia 14/09/2026, às 09:12, {A} <{a}> escreveu:",
      "Às 09:12 de 14/09/2026, {A} escreveu:"
    ],
    ["De", "Enviada: 14 de setembro de 2026 09:12", "Para", "Assunto"],
    "Enviado do meu iPhone",
    "Respondo abaixo, a vermelho."
  ),
  language(
    "Italian",
    ["Quella grande, per favore.", "In ufficio, grazie."],
    ["Quale taglia ti serve?", "Dove la spediamo?"],
    [
      "Il giorno lun 14 set 2026 alle ore 09:12 {A} <{a}> ha scritto:",
      "Il giorno 14 set 2026, alle ore 09:12, {A} <{a}> ha scritto:",
      "Il 14/09/2026 09:12, {A} ha scritto:"
    ],
    ["Da", "Inviato: lunedì 14 settembre 2026 09:12", "A", "Oggetto"],
    "Inviato da iPhone",
    "Le risposte sono qui sotto, in rosso."
  ),
  language(
    "Dutch",
    ["De grote, graag.", "Naar kantoor, dank je."],
    ["Welke maat heb je nodig?", "Waar sturen we hem heen?"],
    [
      "Op ma 14 sep 2026 om 09:12 schreef {A} <{a}>:",
      "Op 14 sep 2026, om 09:12 heeft {A} <{a}> het volgende geschreven:",
      "Op 14-09-2026 om 09:12 schreef {A}:"
    ],
    ["Van", "Verzonden: maandag 14 september 2026 09:12", "Aan", "Onderwerp"],
    "Verstuurd vanaf mijn iPhone",
    "Mijn antwoorden staan hieronder."
  ),
  language(
    "Danish",
    ["Den store, tak.", "Til kontoret."],
    ["Hvilken størrelse skal du bruge?", "Hvor skal vi sende den hen?"],
    [
      "Den man. 14. sep. 2026 kl. 09.12 skrev {A} <{a}>:",
      "Den 14. sep. 2026 kl. 09.12 skrev {A} <{a}>:",
      "Den 14.09.2026 kl. 09.12 skrev {A}:"
    ],
    ["Fra", "Sendt: 14. september 2026 09:12", "Til", "Emne"],
    "Sendt fra min iPhone",
    "Mine svar står nedenfor med rødt."
  ),
  language(
    "Norwegian",
    ["Den store, takk.", "Til kontoret."],
    ["Hvilken størrelse trenger du?", "Hvor skal vi sende den?"],
    [
      "man. 14. sep. 2026 kl. 09:12 skrev {A} <{a}>:",
      "14. sep. 2026 kl. 09:12 skrev {A} <{a}>:",
      "Den 14.09.2026 09:12, skrev {A}:"
    ],
    ["Fra", "Sendt: mandag 14. september 2026 09:12", "Til", "Emne"],
    "Sendt fra min iPhone",
    "Svarene mine står nedenfor i rødt."
  ),
  language(
    "Swedish",
    ["Den stora, tack.", "Till kontoret."],
    ["Vilken storlek behöver du?", "Vart ska vi skicka den?"],
    [
      "Den mån 14 sep. 2026 kl 09:12 skrev {A} <{a}>:",
      "14 sep. 2026 kl. 09:12 skrev {A} <{a}>:",
      "Den 2026-09-14 kl. 09:12, skrev {A}:"
    ],
    ["Från", "Skickat: den 14 september 2026 09:12", "Till", "Ämne"],
    "Skickat från min iPhone",
    "Mina svar finns nedan i rött."
  ),
  language(
    "Finnish",
    ["Se iso, kiitos.", "Toimistolle."],
    ["Minkä koon tarvitset?", "Minne lähetämme sen?"],
    [
      "ma 14. syysk. 2026 klo 9.12 {A} ({a}) kirjoitti:",
      "{A} <{a}> kirjoitti 14.9.2026 kello 9.12:",
      "{A} kirjoitti 14.9.2026 klo 9.12:"
    ],
    ["Lähettäjä", "Lähetetty: maanantai 14. syyskuuta 2026 9.12", "Vastaanottaja", "Aihe"],
    "Lähetetty iPhonesta",
    "Vastaukset ovat alla punaisella."
  ),
  language(
    "Polish",
    ["Duży, proszę.", "Do biura."],
    ["Jakiego rozmiaru potrzebujesz?", "Dokąd mamy wysłać?"],
    [
      "pon., 14 wrz 2026 o 09:12 {A} <{a}> napisał(a):",
      "Wiadomość napisana przez {A} <{a}> w dniu 14.09.2026, o godz. 09:12:",
      "W dniu 14.09.2026 o 09:12, {A} pisze:"
    ],
    ["Od", "Wysłano: poniedziałek, 14 września 2026 09:12", "Do", "Temat"],
    "Wysłane z iPhone'a",
    "Odpowiedzi są poniżej na czerwono."
  ),
  language(
    "Czech",
    ["Tu velkou, prosím.", "Do kanceláře."],
    ["Jakou velikost potřebujete?", "Kam ji máme poslat?"],
    [
      "po 14. 9. 2026 v 9:12 odesílatel {A} <{a}> napsal:",
      "14. 9. 2026 v 9:12, {A} <{a}>:",
      "Dne 14. 09. 26 v 9:12 {A} napsal(a):"
    ],
    ["Od", "Odesláno: pondělí 14. září 2026 9:12", "Komu", "Předmět"],
    "Odesláno z iPhonu",
    "Odpovědi jsou níže červeně."
  ),
  language(
    "Slovak",
    ["Veľkú, prosím.", "Do kancelárie."],
    ["Akú veľkosť potrebujete?", "Kam ju máme poslať?"],
    [
      "po 14. 9. 2026 o 9:12 {A} <{a}> napísal(a):",
      "Dňa 14. 9. 2026 o 9:12 {A} <{a}> napísal:",
      "Dňa 14. 9. 2026 o 9:12 {A} napísal(a):"
    ],
    ["Od", "Odoslané: pondelok 14. septembra 2026 9:12", "Komu", "Predmet"],
    "Odoslané z iPhonu",
    "Odpovede sú nižšie."
  ),
  language(
    "Hungarian",
    ["A nagyot kérem.", "Az irodába."],
    ["Melyik méretre van szüksége?", "Hová küldjük?"],
    [
      "{A} <{a}> ezt írta (időpont: 2026. szept. 14., H, 9:12):",
      "2026. szept. 14. dátummal, 9:12 időpontban {A} <{a}> írta:",
      "2026. 09. 14. 9:12 keltezéssel, {A} írta:"
    ],
    ["Feladó", "Elküldve: 2026. szeptember 14., hétfő 9:12", "Címzett", "Tárgy"],
    "Elküldve az iPhone készülékemről",
    "A válaszaim lentebb pirossal vannak."
  ),
  language(
    "Romanian",
    ["Cea mare, vă rog.", "La birou."],
    ["Ce mărime vă trebuie?", "Unde o trimitem?"],
    [
      "În lun., 14 sept. 2026 la 09:12, {A} <{a}> a scris:",
      "Pe 14 sept. 2026, la 09:12, {A} <{a}> a scris:",
      "La 14.09.2026 09:12, {A} a scris:"
    ],
    ["De la", "Trimis: luni, 14 septembrie 2026 09:12", "Către", "Subiect"],
    "Trimis de pe iPhone-ul meu",
    "Răspunsurile sunt mai jos, cu roșu."
  ),
  language(
    "Russian",
    ["Большой, пожалуйста.", "В офис."],
    ["Какой размер вам нужен?", "Куда его отправить?"],
    [
      "пн, 14 сент. 2026 г. в 09:12, {A} <{a}>:",
      "14 сент. 2026 г., в 09:12, {A} <{a}> написал(а):",
      "14.09.2026 9:12, {A} пишет:"
    ],
    ["От", "Отправлено: 14 сентября 2026 г. 9:12", "Кому", "Тема"],
    "Отправлено с iPhone",
    "Мои ответы ниже, красным."
  ),
  language(
    "Ukrainian",
    ["Великий, будь ласка.", "До офісу."],
    ["Який розмір вам потрібен?", "Куди його надіслати?"],
    [
      "пн, 14 вер. 2026 р. о 09:12 {A} <{a}> пише:",
      "14 вер. 2026 р. о 09:12 {A} <{a}> пише:",
      "14.09.26 09:12, {A} пише:"
    ],
    ["Від", "Надіслано: 14 вересня 2026 р. 9:12", "Кому", "Тема"],
    "Надіслано з iPhone",
    "Мої відповіді нижче."
  ),
  language(
    "Turkish",
    ["Büyük olanı lütfen.", "Ofise gönderin."],
    ["Hangi bedene ihtiyacınız var?", "Nereye gönderelim?"],
    [
      "{A} <{a}>, 14 Eyl 2026 Pzt, 09:12 tarihinde şunu yazdı:",
      "{A} <{a}> şunları yazdı (14 Eyl 2026 09:12):",
      "14.09.2026 09:12 tarihinde {A} yazdı:"
    ],
    ["Kimden", "Gönderildi: 14 Eylül 2026 Pazartesi 09:12", "Kime", "Konu"],
    "iPhone'umdan gönderildi",
    "Yanıtlarım aşağıda kırmızıyla yazılı."
  ),
  language(
    "Greek",
    ["Το μεγάλο, παρακαλώ.", "Στο γραφείο."],
    ["Ποιο μέγεθος χρειάζεστε;", "Πού να το στείλουμε;"],
    [
      "Στις Δευ 14 Σεπ 2026 στις 9:12 π.μ., ο χρήστης {A} <{a}> έγραψε:",
      "Στις 14 Σεπ 2026, στις 9:12 π.μ., ο χρήστης {A} <{a}> έγραψε:",
      "Στις 14/9/26 09:12, {A} έγραψε:"
    ],
    ["Από", "Στάλθηκε: Δευτέρα, 14 Σεπτεμβρίου 2026 9:12 πμ", "Προς", "Θέμα"],
    "Στάλθηκε από το iPhone μου",
    "Οι απαντήσεις μου είναι παρακάτω με κόκκινο."
  ),
  language(
    "Bulgarian",
    ["Големия, моля.", "В офиса."],
    ["Какъв размер ви трябва?", "Къде да го изпратим?"],
    [
      "На пн, 14.09.2026 г. в 9:12 {A} <{a}> написа:",
      "На 14.09.2026 г. в 9:12 {A} <{a}> написа:",
      "На 14.9.2026 г. 9:12, {A} написа:"
    ],
    ["От", "Изпратено: 14 септември 2026 г. 9:12", "До", "Тема"],
    "Изпратено от моя iPhone",
    "Отговорите ми са по-долу в червено."
  ),
  language(
    "Croatian",
    ["Veliku, molim.", "U ured."],
    ["Koju veličinu trebate?", "Kamo da je pošaljemo?"],
    [
      "pon, 14. ruj 2026. u 09:12 {A} <{a}> napisao je:",
      "{A} <{a}> je dana 14.09.2026. u 09:12 napisao:",
      "Dana 14. 09. 2026. u 09:12, {A} je napisao:"
    ],
    ["Od", "Poslano: 14. rujna 2026. 9:12", "Za", "Predmet"],
    "Poslano s mog iPhonea",
    "Odgovori su ispod crvenom bojom."
  ),
  language(
    "Japanese",
    ["大きいほうをお願いします。", "オフィスに送ってください。"],
    ["どのサイズが必要ですか。", "どこに送りましょうか。"],
    ["2026年9月14日(月) 9:12 {A} <{a}>:", "2026/09/14 9:12、{A} <{a}>のメール:", "On 2026/09/14 9:12, {A} wrote:"],
    ["差出人", "送信日時: 2026年9月14日 9:12", "宛先", "件名"],
    "iPhoneから送信",
    "回答は赤字でインラインに書きました。"
  ),
  language(
    "Chinese (simplified)",
    ["请发大号的。", "寄到办公室。"],
    ["您需要什么尺寸？", "寄到哪里？"],
    [
      "{A} <{a}> 于2026年9月14日周一 09:12写道：",
      "在 2026年9月14日，09:12，{A} <{a}> 写道：",
      "在 2026/9/14 9:12, {A} 写道:"
    ],
    ["发件人", "发送时间: 2026年9月14日 9:12", "收件人", "主题"],
    "发自我的 iPhone",
    "我的回答见下面红色文字。"
  ),
  language(
    "Chinese (traditional)",
    ["請寄大號的。", "寄到辦公室。"],
    ["您需要什麼尺寸？", "要寄到哪裡？"],
    [
      "{A} <{a}> 於 2026年9月14日 週一 上午9:12寫道：",
      "{A} <{a}> 於 2026年9月14日 上午9:12 寫道：",
      "{A} 於 2026/9/14 上午 09:12 寫道："
    ],
    ["寄件者", "寄件日期: 2026年9月14日 上午 09:12", "收件者", "主旨"],
    "從我的iPhone傳送",
    "我的回答寫在下面，紅色的部分。"
  ),
  language(
    "Korean",
    ["큰 것으로 부탁합니다.", "사무실로 보내 주세요."],
    ["어떤 크기가 필요하세요?", "어디로 보낼까요?"],
    [
      "2026년 9월 14일 (월) 오전 9:12, {A} <{a}>님이 작성:",
      "2026. 9. 14. 오전 9:12, {A} <{a}> 작성:",
      "2026-09-14 오전 9:12에 {A} 이(가) 쓴 글:"
    ],
    ["보낸 사람", "보낸 날짜: 2026년 9월 14일 월요일 오전 9:12", "받는 사람", "제목"],
    "나의 iPhone에서 보냄",
    "답변은 아래에 빨간색으로 적었습니다."
  ),
  language(
    "Arabic",
    ["الكبير من فضلك.", "أرسله إلى المكتب."],
    ["ما المقاس الذي تحتاجه؟", "إلى أين نرسله؟"],
    [
      "في الاثنين، ١٤ سبتمبر ٢٠٢٦ في ٩:١٢ ص تمت كتابة ما يلي بواسطة \u202a{A}\u202c\u200f <\u202a{a}\u202c\u200f>:\u200f",
      "في ١٤ سبتمبر ٢٠٢٦، الساعة ٩:١٢ ص، كتب {A} <{a}>:",
      "في 14/9/2026 9:12 ص، كتب {A}:"
    ],
    ["من", "تاريخ الإرسال: 14 سبتمبر 2026 09:12 ص", "إلى", "الموضوع"],
    "أُرسلت من الـ iPhone",
    "إجاباتي أدناه بالأحمر."
  ),
  language(
    "Hebrew",
    ["הגדול בבקשה.", "למשרד, תודה."],
    ["איזו מידה צריך?", "לאן לשלוח?"],
    [
      "\u202bבתאריך יום ב׳, 14 בספט׳ 2026 ב-9:12 מאת \u202a{A}\u202c\u200f <\u202a{a}\u202c\u200f>:\u202c",
      "ב-14 בספט׳ 2026, בשעה 9:12, {A} <{a}> כתב/ה:",
      "בתאריך 14/09/2026 בשעה 9:12, {A} כתב:"
    ],
    ["מאת", "נשלח: יום שני 14 ספטמבר 2026 09:12", "אל", "נושא"],
    "נשלח מה-iPhone שלי",
    "התשובות שלי למטה באדום."
  ),
  language(
    "Vietnamese",
    ["Cỡ lớn nhé.", "Gửi đến văn phòng."],
    ["Bạn cần cỡ nào?", "Gửi đến đâu?"],
    [
      "Vào Th 2, 14 thg 9, 2026 vào lúc 09:12 {A} <{a}> đã viết:",
      "Vào 14 thg 9, 2026, lúc 09:12, {A} <{a}> đã viết:",
      "Vào lúc 09:12 ngày 14/09/2026, {A} đã viết:"
    ],
    ["Từ", "Đã gửi: Thứ Hai, 14 Tháng Chín 2026 9:12 SA", "Đến", "Chủ đề"],
    "Đã gửi từ iPhone của tôi",
    "Câu trả lời ở bên dưới, màu đỏ."
  ),
  language(
    "Indonesian",
    ["Yang besar, tolong.", "Kirim ke kantor."],
    ["Ukuran mana yang Anda perlukan?", "Dikirim ke mana?"],
    [
      "Pada tanggal Sen, 14 Sep 2026 pukul 09.12 {A} <{a}> menulis:",
      "Pada 14 Sep 2026, pukul 09.12, {A} <{a}> menulis:",
      "Pada 14/09/2026 09.12, {A} menulis:"
    ],
    ["Dari", "Dikirim: Senin, 14 September 2026 09.12", "Kepada", "Subjek"],
    "Dikirim dari iPhone saya",
    "Jawaban saya di bawah, warna merah."
  ),
  language(
    "Thai",
    ["ขอขนาดใหญ่ครับ", "ส่งไปที่สำนักงานครับ"],
    ["ต้องการขนาดไหน", "ส่งไปที่ไหนดี"],
    [
      "ในวันที่ จ. 14 ก.ย. 2026 เวลา 09:12 {A} <{a}> เขียนว่า:",
      "ในวันที่ 14 ก.ย. 2026 เวลา 09:12 {A} <{a}> เขียนว่า:",
      "เมื่อ 14/9/2026 9:12, {A} เขียน:"
    ],
    ["จาก", "ส่ง: 14 กันยายน 2026 9:12", "ถึง", "เรื่อง"],
    "ส่งจาก iPhone ของฉัน",
    "คำตอบอยู่ด้านล่าง สีแดง"
  )
]
