/*
 * Words of mail with codes and confirmation links in some thirty languages, as `folded` writes them: without the accents of
 * Latin, Cyrillic and Greek letters.
 */

/** Not after a letter of an alphabet whose words are separated by spaces. */
const START = "(?<![a-z\u0370-\u052f])"
const END = "(?![a-z\u0370-\u052f])"

const any = (...words: ReadonlyArray<string>): RegExp => new RegExp(words.join("|"), "giu")
const whole = (words: string): string => `${START}(?:${words})${END}`
const begun = (words: string): string => `${START}(?:${words})`

/** Words for a one-time code. A compound such as Sicherheitscode is one, too. */
export const CODE = any(
  "[a-z]{0,20}coden?(?![a-z]| of | review)",
  whole(
    "otp|pin|tan|token|codi|codigo|clave|codice|cod|codul|verification (?:number|key)|digit number|one-time|einmal[a-z]{0,20}|ma (?:xac|otp|bao)"
  ),
  `[a-z]{0,20}kod(?:[aeosut]|em|en|er|ens|et|ot|od|ja|jat|zie|ow|as|u[a-z]{1,6})?${END}`,
  `[a-z]{0,20}koodi?[a-z]{0,3}${END}`,
  begun(
    "pass(?:word|wort|code|key|phrase)|contrasena|senha|mot de passe|parola|sifre|heslo|haslo|jelsz[oa]|wachtwoord|[a-z]{0,20}losenord|adgangskode|[a-z]{0,20}salasana|kata sandi|mat khau"
  ),
  "(?<![\\p{L}-])код(?:а|у|ом|ът)?(?!\\p{L})|парол|κωδικ|קוד|סיסמ|رمز|كود|کد|کوڈ|كلمة المرور|कोड|ओटीपी|পাসওয়ার্ড|কোড|รหัส",
  "コード|(?:認証|確認|検証|暗証)(?:番号|キー)|パスワード|[码碼]|(?:인증|확인|보안) ?(?:번호|키)|코드|비밀번호"
)

/** Codes that are not for one time: of places, errors, goods, promotions and programs. */
export const OTHER_CODE = any(
  whole(
    "(?:error|status|https?|exit|return|response|country|area|diall?ing|zip|postal|post|routing|sort|swift|bic|bank|branch|qr|bar|source|dress|tax|vat|product|item|article|model|style|part|hex|colou?r|course|class|subject|room|building|project|cost|company|department|employee|customer|member|order|booking|reservation|tracking|shipping|shipment|parcel|pick-?up|collection|locker|door|gate|promo|promotion|promotional|discount|coupon|voucher|gift|gift card|redemption|offer|referral|invite|invitation|partner|affiliate|airport|airline|currency|language|reference|ref|reason|diagnostic|fault|warning|event|serial|backup|scratch|meeting|game|join|job|build)[ -]?(?:code|pin)s?"
  ),
  // "Your Apple Account code" is for one time.
  `(?<!your [a-z]{1,20} )${whole("account[ -]?codes?")}`,
  "[a-z]{0,20}(?:fehler|post|lander|bar|quell|farb|artikel|produkt|buchungs|gutschein|rabatt|aktions|land|fout|kortings|reserverings|streepjes|boekings|felanmalnings|rabat|port|dorr|tur)(?:code|kode|kod)[a-z]{0,3}",
  whole(
    "code (?:postale?|promo[a-z]*|d.?erreur|erreur|barres?|source|client|article|produit|couleur|pays|reduction|de reduction|cadeau|avantage|guichet|banque|naf|ape|insee|civil|penal|de la route|du travail|parrainage|de parrainage)"
  ),
  whole(
    "codigos? (?:postal|de error|de erro|promocional|de descuento|de desconto|de barras|qr|de producto|del? producto|do produto|de cliente|do cliente|de pedido|do pedido|de color|fuente|fonte|de pais|do pais|de area|de reserva|de seguimiento|de rastreio|de rastreamento|de regalo|civil|penal|de conducta|de conduta)"
  ),
  whole(
    "codic[ei] (?:postale|fiscale|errore|di errore|sconto|promo[a-z]*|a barre|prodotto|articolo|cliente|ordine|iban|sorgente|di prenotazione|prenotazione|colore|civile|penale|di condotta|abi|univoco|sdi|tributo)"
  ),
  whole(
    "kod (?:pocztowy|rabatowy|promocyjny|bledu|kreskowy|qr|produktu|kraju|zrodlowy|chyby|zbozi)|(?:slevovy|postovni|zdrojovy|promo|carovy) kod"
  ),
  whole("(?:posta|indirim|hata|urun|alan|ulke|kupon|promosyon|kaynak|rezervasyon|hediye)[ -]?kod[a-z]*"),
  whole("kode (?:pos|promo|diskon|voucher|error|kesalahan|produk|negara|area|booking|pemesanan|referral)"),
  "код[а-я]{0,2} (?:ошибк|товар|город|стран|регион|скидк|купон|брон|помилк|міст|краін)[а-яі]*|(?:почтов|исходн|промо|штрих|qr)[а-я]*[ -]?код[а-я]{0,2}",
  "(?:エラー|クーポン|プロモーション|割引|商品|国|郵便|qr|バー|ソース|予約|ギフト|招待|紹介|店舗|銀行|支店|証券|カラー) ?コード",
  "(?:错误|優惠|优惠|折扣|邀请|邀請|二维|二維|条|條|取件|取货|提货|兑换|兌換|券|源|股票|机构|信用|产品|商品|邮政编|編|编|号|號|尺|代)[代号]?[码碼](?:行)?",
  "รหัส(?:อ้างอิง|ไปรษณีย์|สินค้า|ส่วนลด)",
  "(?:오류|에러|쿠폰|할인|상품|국가|초대|추천|소스|바|qr|예약|우편) ?코드",
  "(?:ال)?رمز (?:ال)?(?:بريدي|خصم|قسيمة|منتج|خطا|دولة)|كود (?:ال)?خصم"
)

/** Words that show, beside the mere word "code", that it is for one time. */
export const ONE_TIME =
  /expir|valid|minut|share|secur|one.time|\b(?:your|dein|ihr|votre|ton|je|jouw|uw) [\w -]{0,30}code|following|below|enter|access|use |\botp|\bpin\b|pass|folgend|eingeben|gultig|suivant|valable|volgende|geldig/iu
/** The mere word "code", which many numbers have. */
export const MERE_CODE = /^code$/iu

/** Words for the action of a confirmation link. */
export const CONFIRM = any(
  "verif|confirm|activ|validat|valider|recover|accept|magic|bestatig|aktiv",
  "conferm|potvr|overi|overen|potwierd|weryfik|bevestig|bekraft|bekreft|bekraeft|vahvist|megerosit|dogrula|onayla|etkin",
  "xac (?:nhan|minh|thuc)|konfirm|подтвер|потвърд|підтв|активир|επιβεβαι|επαληθ",
  "確認|認証|有効化|验证|驗證|确认|激活|인증|확인|ยืนยัน|تأكيد|تحقق|تفعيل|אימות|אישור|सत्याप"
)
/** Words for a new password. */
export const RESET = any(
  "reset|zurucksetz|reinitial|restablec|redefin|reimposta|obnov|zresetuj|herstel|aterstall|sifirla|сброс|восстан|скин|再設定|重置|重设|重設|재설정"
)
/** Words for signing in and up. */
export const SIGN_IN = any(
  "log.?in|sign.?(?:in|up|on)|auth|regist|anmeld|einlogg|connexion|connect|inici[a-z]+ (?:de )?ses|acced|acess|acces|entrar|prihlas|zaloguj|logowan",
  "inlog|logga in|logg inn|log ind|kirjaudu|bejelentkez|giris|dang (?:nhap|ky)|masuk|вход|воити|регистр|увіити|вхід|συνδε",
  "ログイン|登録|登录|登入|註冊|注册|로그인|가입|เข้าสู่ระบบ|تسجيل|כניסה|התחבר|लॉग ?इन"
)

/** Words between the word for a code and the code, such as "di sicurezza". */
export const SECURITY = any("secur|segur|sicur|bezpec|безопас")

/** Words for other numbers, which follow them. */
export const OTHER = any(
  whole(
    "(?:order|account|invoice|bill|ticket|case|ref|reference|phone|tel|telephone|fax|mobile|call|customer|client|member|user|track|tracking|parcel|ship|shipment|serial|version|build|room|gate|suite|zip|amount|total|card|port|error|status|year|since|line|page|country|area|license|request|issue|reply|extension|ext|dial)s?|(?:ending|ends)(?: (?:in|with))?"
  ),
  begun(
    "bestell|konto|rechnung|kunden|vorgang|auftrag|sendung|plz|endet auf|commande|compte|factur|dossier|pedido|cuenta|conta|fattur|fatur|cliente|ordin|pratica|objednav|zamow|siparis|musteri|hesap|ordre|tilaus|rendeles|pesanan|don hang"
  ),
  "copyright|©|заказ|счет|телефон|замовл|договор|注文|口座|会員|お客様|受付|订单|訂單|账[户号]|帳號|工单|尾号|주문|계좌|고객|طلب"
)
/** Words for a number of any kind. */
export const NUMBER = any(
  whole("numm?er[oa]?s?|nr|no|num|id|numara[a-z]*|cislo|szam[a-z]*|nomor|so"),
  "№|номер|番号|号码|號碼|编号|번호|رقم|[订單单运]号"
)
/** Words around codes that are not for signing in: of promotions, presents, bookings, parcels and meetings. */
export const UNRELATED = any(
  begun(
    "discount|coupon|voucher|promo(?:tion|[ -]|$)|gift|referral|gutschein|rabatt|remise|reduction|descuento|cupon|desconto|cupom|sconto|indirim|slev[ay]|rabat(?![a-z])|znizk|korting|alennus|reservation|reserva(?![a-z])|reservier|reservering|rezerv|prenotaz|booking|buchung|flight|itinerar|pick.?up|locker|abhol|meeting|webinar|conference|shares|securities|bug(?![a-z])"
  ),
  "% off|at checkout|скидк|промокод|бронир|クーポン|割引|予約|优惠|折扣|预订|发票|發票|할인|쿠폰|예약"
)

/** A verb between a code and its name. */
const VERB = "is|ist|est|es|e|jest|je|ar|er|on|este|yra|ir|adalah|ialah|la|lautet|lauten|ειναι|е|је|to|هو|هي|הוא|है|คือ"
/** A verb at the end of a text, after the name of the code. */
export const ENDS_WITH_VERB = new RegExp(`(?:(?:^|\\s)(?:${VERB})|[为為是は:=]|คือ)[^\\p{L}\\d]*$`, "iu")
/** The text between a code at the beginning of a sentence and its name: a verb, a dash with "your", or a bracket. */
export const BEGINS_WITH_VERB = new RegExp(
  `^["'*)\\]»”]*(?:\\s(?:${VERB}|to|dir|tek|as|als|como|comme|come|jako|olarak|sebagai|som|как)\\s|\\s?[-–—]+\\s(?:your|votre|ihr|dein|tu|su|seu|il tuo|ваш|твои|twoj|vas|uw|din|sizin)|\\s(?:dogrulama|onay|guvenlik|giris) kod|\\s?\\(|\\s?[がはも是为為은는이가])`,
  "iu"
)
/** A verb that tells to enter the code behind it. */
export const ENTER =
  /(?:use|enter|type|utilis[a-z]+|saisi[a-z]*|us[ae]|utiliza|utilice|utilizz[a-z]+|inserisci|introduce|verwende[a-z]*|nutze[a-z]*|gib|geben sie|gebruik|wpisz|uzyj|zadejte|pouzijte|gunakan|masukkan|bruk|brug|anvand|введите|используите) $/iu
/** A word that makes the number behind it one of something else. */
export const PREPOSITION =
  /^[^\p{L}]*(?:for|to|at|in|on|by|from|of|and|within|until|before|after|fur|pour|para|per|dla|pro|для|за|voor|til|till)[^\p{L}]*$/iu

/** Words of links that confirm nothing. */
export const NO_CONFIRM =
  /unsubscri|abmeld|abbestell|desabonn|desinscri|darse de baja|disiscri|отпис|停止|退订|수신거부|odhlas|cancel|n[o']t (?:you|me|request)|help|hilfe|aide|ayuda|support|privacy|datenschutz|terms|polic|settings|prefer|faq|docs|blog|articles/iu

const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  ł: "l",
  Ł: "L",
  ø: "o",
  Ø: "O",
  æ: "ae",
  Æ: "AE",
  đ: "d",
  Đ: "D",
  ı: "i",
  "،": ", "
}

/**
 * Returns text in which a word has one spelling: full-width and Arabic digits in ASCII, no accents, nothing invisible, and a
 * space after each comma.
 */
export const folded = (text: string): string =>
  text
    // Normalization sorts the marks after a letter, in time that grows with their square. No text has so many.
    .replaceAll(/(\p{M}{30})\p{M}+/gu, "$1")
    .replaceAll(/[，、！？；]/g, "$& ")
    .normalize("NFKD")
    .replaceAll(/[\u{300}-\u{36f}\u{ad}\u{61c}\u{200b}-\u{200f}\u{202a}-\u{202e}\u{2060}-\u{2069}\u{feff}]/gu, "")
    .normalize("NFC")
    .replaceAll(/[ßłŁøØæÆđĐı،]/g, (letter) => LETTERS[letter] ?? letter)
    .replaceAll(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15))
