import { mail } from "./LabeledMail.ts"

/** Mails without a one-time code: most have numbers and words that mislead. */
export const NO_CODE = [
  mail(
    "en",
    "order",
    "Your order #48291377 has shipped",
    `Hi Ada,

Order number: 48291377
Tracking number: 1Z999AA10123456784
Ship to: 1600 Pennsylvania Ave NW, Washington, DC 20500

Track your parcel: https://shop.example/track/48291377?t=9f8e7d6c5b

Copyright 2026 Shop Inc.`
  ),
  mail(
    "en",
    "receipt",
    "Your receipt from Acme #2847-1093",
    `<table><tr><td>Receipt from Acme</td></tr><tr><td>Amount paid</td><td>$1,250.00</td></tr><tr><td>Date paid</td><td>October 12, 2026</td></tr><tr><td>Payment method</td><td>Visa 4821</td></tr><tr><td>Invoice number</td><td>48213377</td></tr><tr><td>Receipt number</td><td>28471093</td></tr></table>`
  ),
  mail(
    "en",
    "promotion",
    "20% off this weekend",
    "Use code SAVE20 at checkout and get 20% off. Valid until 12/31/2026."
  ),
  mail(
    "en",
    "promotion on its own line",
    "A present for you",
    `Here is your discount code:

WELCOME10

Enter the code at checkout.`
  ),
  mail(
    "en",
    "promotion of random letters",
    "Thank you for your order",
    `To say thanks, here's a voucher code for your next purchase:

XK4T9Q

It gives you $5 off.`
  ),
  mail(
    "en",
    "gift card",
    "Your gift card",
    `You received a gift card from Bob.

Gift card code: 4821 9377
PIN: 4417

Redeem it before 2027-10-12.`
  ),
  mail("en", "referral", "Invite your friends", "Share your referral code ADA4821 and both of you get $10."),
  mail(
    "en",
    "code of conduct",
    "Our code of conduct 2026",
    "We have updated our code of conduct. Version 2026.1 applies to all 4821 employees from January 2027."
  ),
  mail(
    "en",
    "code review",
    "[acme/shop] Fix login code review comments (PR #48213)",
    `@bob requested changes on this pull request.

src/login/code.ts line 4821: verify the token before 2026.

View it on GitHub: https://github.com/acme/shop/pull/48213#pullrequestreview-99887766`
  ),
  mail(
    "en",
    "error code",
    "Payment failed",
    "Your payment failed with error code 50012. Update your card to keep your subscription."
  ),
  mail(
    "en",
    "status codes",
    "Alert: HTTP code 5031",
    "The monitor got status code 5031 from shop.example at 15:30 on 2026-10-12. 1200 requests failed."
  ),
  mail(
    "en",
    "country code",
    "Dialing from abroad",
    "Dial the country code 0049 and the area code 0221, then our number 4821 9377."
  ),
  mail(
    "en",
    "zip code",
    "Complete your address",
    "We could not verify your address. The zip code 94107 does not match the city Oakland."
  ),
  mail(
    "en",
    "security notice",
    "Security notice",
    "We meet at 12:30 in room 4821. Your security team will bring 1500 badges."
  ),
  mail(
    "en",
    "sign-in notice",
    "New sign-in to your account",
    `We noticed a new sign-in to your account ada1985.

Time: 12 October 2026, 09:14
IP address: 198.51.100.23
Device ID: 88172635

If this was you, you don't need to do anything.`
  ),
  mail(
    "en",
    "password changed",
    "Your password was changed",
    "The password for your account was changed on 10/12/2026. If this wasn't you, call +1 415 555 0100."
  ),
  mail(
    "en",
    "authenticator on",
    "Two-factor authentication is on",
    "You turned on two-factor authentication. From now on, enter the verification code of your authenticator app when you sign in. Support ticket 4821937."
  ),
  mail(
    "en",
    "backup codes",
    "Your backup codes",
    `Keep these backup codes somewhere safe. Each works once.

4821 9377
1029 3847
5566 7788
9012 3456
7788 1122`
  ),
  mail(
    "en",
    "recovery codes of letters",
    "Recovery codes",
    `Your recovery codes:

K7M2P-9QX4T
R2T8W-5BN6C
V9D3F-1GH7J`
  ),
  mail("en", "old and new code", "Your new PIN", "Your previous code 111222 no longer works. Your new code is 333444."),
  mail(
    "en",
    "two codes",
    "Your codes",
    `Code for Ada: 482913
Code for Bob: 739204`
  ),
  mail(
    "en",
    "support ticket",
    "[Ticket 482913] Re: cannot log in",
    `##- Please type your reply above this line -##

Your request (482913) has been received and is being reviewed by our support staff.

Bob (Support)
Oct 12, 2026, 09:14 UTC

Could you tell us which verification step fails?`
  ),
  mail(
    "en",
    "case number",
    "Case 00482913: login problem",
    "Thank you for contacting us. Your case number is 00482913. Please keep it for your records."
  ),
  mail(
    "en",
    "invoice",
    "Invoice 2026-0042",
    "Invoice no. 20260042 of 12 October 2026 is attached. Account no. 48213377, sort code 20-40-60. Amount due: GBP 4821."
  ),
  mail(
    "en",
    "newsletter of CSS",
    "Weekly news",
    `<html><head><style>.code{color:#481516}.otp{width:600px}</style></head><body style="background:#123456"><h1>How one-time codes work</h1><p>In 2026, 4821 companies sent 6000000 verification codes a day.</p></body></html>`
  ),
  mail("en", "colour", "Brand colours", `<p>Our colour code is <b>#481516</b>, and the dark one is #202123.</p>`),
  mail(
    "en",
    "article about codes",
    "How to read your security code",
    "Your card's security code has 3 digits. Some cards have 4. In 1985 there was none. Read more: https://bank.example/articles/482913-security-code"
  ),
  mail(
    "en",
    "calendar",
    "Invitation: Code freeze @ Mon Oct 12, 2026 15:30",
    `Code freeze
When: Monday Oct 12, 2026 15:30 - 16:30
Where: Room 4821, Building 1200
Dial-in: +1 650 555 0123 PIN: 482 913 377#`
  ),
  mail(
    "en",
    "meeting",
    "Bob is inviting you to a Zoom meeting",
    `Join Zoom Meeting
https://us02web.zoom.us/j/84821937756?pwd=Q1w2E3r4T5

Meeting ID: 848 2193 7756
Passcode: 482913`
  ),
  mail(
    "en",
    "flight",
    "Your booking is confirmed",
    `Booking confirmed!

Confirmation code: K7M2P9
Flight LH4821, 12 October 2026, 09:14`
  ),
  mail(
    "en",
    "stay",
    "Reservation confirmed",
    `<h1>Your reservation is confirmed</h1><p>Confirmation code</p><p>HMA4X9TQ2P</p><p>Check-in: Oct 12, 2026, 15:00</p>`
  ),
  mail(
    "en",
    "parcel locker",
    "Your parcel is ready for pick-up",
    "Your parcel is ready. Pick-up code: 482913. Locker 12, 21 Baker Street, London NW1 6XE."
  ),
  mail(
    "en",
    "software release",
    "Version 4821 released",
    "Release 24.10.4821 has 125000 lines of code and verifies the login faster. Build 20261012."
  ),
  mail("en", "statistics", "Your week", "125000 sign-ups and 4821 logins this week. Confirm your plan before 2027."),
  mail(
    "en",
    "link only, code in its query",
    "Confirm your email",
    "Confirm your email: https://shop.example/confirm?code=987654",
    null,
    "https://shop.example/confirm?code=987654"
  ),
  mail(
    "en",
    "notification",
    "Ada, you have 4821 new followers",
    "Log in to see your 4821 new followers. Your profile code of the year 2026 is on its way."
  ),
  mail(
    "en",
    "statement",
    "Your statement is ready",
    `<p>Your statement for account ending in 4821 is ready.</p><p><a href="https://bank.example/login">Log in</a> to see it.</p><p>Member FDIC. Routing code 021000021.</p>`
  ),
  mail(
    "en",
    "unsubscribe link",
    "News",
    `<p>News of the week.</p><p><a href="https://news.example/unsubscribe/confirm?token=9f8e7d6c5b4a3210">Confirm unsubscription</a></p>`
  ),
  mail(
    "en",
    "newsletter with links",
    "Your weekly digest",
    `<p>Top stories</p><p><a href="https://ct.news.example/ls/click?upn=u001.Aa1Bb2Cc3Dd4Ee5Ff6">How to verify a photo</a> and <a href="https://ct.news.example/ls/click?upn=u001.Zz9Yy8Xx7Ww6Vv5Uu4">Why resetting habits works</a></p><p><a href="https://ct.news.example/ls/click?upn=u001.Mm1Nn2Oo3Pp4Qq5Rr6">Unsubscribe</a></p>`
  ),
  mail(
    "en",
    "double opt-in",
    "Please confirm your subscription",
    `<p>You asked for our newsletter. Please confirm.</p><p><a href="https://example.us1.list-manage.com/subscribe/confirm?u=1a2b3c4d5e6f7a8b9c0d1e2f3&id=9f8e7d6c5b&e=0a1b2c3d4e">Yes, subscribe me to this list</a></p><p>If you received this email by mistake, simply delete it.</p>`,
    null,
    "https://example.us1.list-manage.com/subscribe/confirm?u=1a2b3c4d5e6f7a8b9c0d1e2f3&id=9f8e7d6c5b&e=0a1b2c3d4e"
  ),
  mail(
    "en",
    "mlmmj confirmation",
    "confirm+4821ab9377cd@lists.example",
    `Hi, this is the Mlmmj program managing the <dev@lists.example> mailing list.

To confirm you want to be subscribed, please send a short reply to this address:

    <dev+confsub+4821ab9377cd-ada=example.com@lists.example>`
  ),
  mail(
    "en",
    "reply with a quoted code",
    "Re: Your code",
    `I never asked for this. Please close my account.

On 12 October 2026, Shop wrote:
> Your verification code is 482913.`
  ),
  mail(
    "en",
    "failed delivery",
    "Undelivered Mail Returned to Sender",
    `This is the mail system at host mx.example.

<bob@outside.example>: host mx.outside.example[198.51.100.7] said: 550 5.1.1 User unknown (in reply to RCPT TO command). Error code 5501. Queue id 4X2KPt1z9Qz.`
  ),
  mail(
    "en",
    "tax",
    "Your tax documents",
    "Your tax code is 1257L for the year 2026. National Insurance number: QQ123456C. Reference 4821/K7."
  ),
  mail(
    "en",
    "vacation",
    "Out of office",
    "I am away until 12.10.2026. In urgent cases call 030 4821937 or open the door with the code that you know."
  ),
  mail(
    "en",
    "lines of text",
    "Fundraiser",
    "Dear all,\n\n4821\n\nThat is how many people signed the petition in 2026. Thank you!"
  ),
  mail("en", "QR code", "Your ticket", "Show the QR code at gate 4821. Ticket 48213377. Doors open 19:30."),
  mail(
    "en",
    "source code",
    "Your source code escrow",
    "The source code of 2026 has been deposited under number 48213377."
  ),
  mail(
    "de",
    "Rechnung",
    "Ihre Rechnung 48213377",
    `Sehr geehrte Damen und Herren,

Kundennummer: 48291377
Rechnungsnummer: 20260042
Betrag: 1.249,00 EUR

Musterstraße 4821, 10115 Berlin
Amtsgericht Charlottenburg HRB 123456`
  ),
  mail("de", "Gutschein", "Ihr Gutschein", "Ihr Gutscheincode lautet HERBST26. Sie sparen 10 Euro."),
  mail(
    "de",
    "Anmeldung von einem Gerät",
    "Neue Anmeldung",
    "Am 12.10.2026 um 09:14 Uhr gab es eine Anmeldung bei Ihrem Konto 48213377. Waren Sie das nicht? Tel. 030 123456"
  ),
  mail(
    "de",
    "Sendung",
    "Ihr Paket kommt heute",
    "Sendungsnummer 00340434161094042557. Ihr Paket mit der Bestellnummer 48291377 kommt heute zwischen 13:00 und 15:00 Uhr."
  ),
  mail("fr", "code promo", "Votre code promo", "Profitez de 15 % avec le code promo RENTREE15 jusqu'au 31/12/2026."),
  mail(
    "fr",
    "code postal",
    "Votre commande n° 48291377",
    "Votre commande 48291377 sera livrée au 12 rue de Rivoli. Code postal : 75004. Montant : 1249 €."
  ),
  mail(
    "fr",
    "facture",
    "Facture n° 20260042",
    "Votre facture n° 20260042 est disponible. Référence client : 48213377. SIRET 552 100 554 00025."
  ),
  mail(
    "es",
    "código de descuento",
    "Tu código de descuento",
    "Usa el código de descuento OTOÑO20 y ahorra un 20 %. Pedido mínimo: 4821 €."
  ),
  mail(
    "es",
    "pedido",
    "Tu pedido 48291377",
    "Hemos recibido tu pedido 48291377. Código postal de entrega: 28013. Teléfono: 900 123 456."
  ),
  mail(
    "pt",
    "nota fiscal",
    "Pedido 48291377 confirmado",
    "Seu pedido 48291377 foi confirmado. CEP 01310-100. CNPJ 12.345.678/0001-95. Total: R$ 4821,00."
  ),
  mail("pt", "cupom", "Cupom para você", "Use o cupom com o código VOLTA10 na sua próxima compra."),
  mail(
    "it",
    "codice fiscale",
    "Documento disponibile",
    "Il documento intestato al codice fiscale RSSMRA85T10A562S è disponibile. Pratica n. 48213377 del 12/10/2026."
  ),
  mail("it", "codice sconto", "Il tuo codice sconto", "Inserisci il codice sconto AUTUNNO15 nel carrello."),
  mail(
    "ru",
    "заказ",
    "Заказ № 48291377 отправлен",
    "Ваш заказ № 48291377 отправлен 12.10.2026. Трек-номер: 80123456789012. Сумма: 4821 руб."
  ),
  mail("ru", "промокод", "Промокод на скидку", "Ваш промокод: OSEN2026. Скидка 15 %."),
  mail(
    "ru",
    "вход",
    "Новый вход в аккаунт",
    "Выполнен вход в аккаунт 12 октября 2026 года в 15:30. Если это были не вы, позвоните по номеру 8 800 555 01 99."
  ),
  mail(
    "pl",
    "zamówienie",
    "Zamówienie nr 48291377",
    "Zamówienie nr 48291377 zostało wysłane. Kod pocztowy: 00-950. Kwota: 4821 zł."
  ),
  mail("pl", "kod rabatowy", "Kod rabatowy", "Twój kod rabatowy: JESIEN20. Rabat 20%."),
  mail(
    "tr",
    "sipariş",
    "Siparişiniz yola çıktı",
    "48291377 numaralı siparişiniz yola çıktı. Posta kodu: 34710. Tutar: 4821 TL."
  ),
  mail("tr", "indirim", "Size özel indirim kodu", "İndirim kodunuz: SONBAHAR15. Sepette geçerlidir."),
  mail(
    "ja",
    "注文",
    "ご注文番号 48291377 の確認",
    "ご注文番号：48291377\n合計：4,821円\n〒100-0005 東京都千代田区丸の内1-9-1\nお問い合わせ番号：0120-444-444"
  ),
  mail("ja", "クーポン", "クーポンのお知らせ", "クーポンコード：AKI2026A\n有効期限：2026年12月31日"),
  mail(
    "ja",
    "ログイン通知",
    "ログインのお知らせ",
    "2026年10月12日 15:30 にログインがありました。\n会員番号：48213377\n心当たりがない場合はパスワードを変更してください。"
  ),
  mail(
    "zh",
    "订单",
    "订单 48291377 已发货",
    "您的订单号：48291377，运单号：SF1234567890123，金额4821元。客服电话：400-810-1234。邮政编码：100010。"
  ),
  mail("zh", "优惠码", "专属优惠码", "您的优惠码：QIU2026X，结算时输入可享受8折优惠。"),
  mail("ko", "주문", "주문번호 48291377", "주문번호: 48291377\n결제금액: 48,210원\n우편번호 04524 서울특별시 중구"),
  mail("ko", "쿠폰", "할인 쿠폰 도착", "할인 쿠폰 코드: FALL2026K. 유효기간 2026년 12월 31일."),
  mail("ar", "طلب", "تم شحن طلبك", "رقم الطلب: 48291377. المبلغ: ٤٨٢١ ريال. التاريخ: 2026-10-12."),
  mail(
    "nl",
    "bestelling",
    "Je bestelling 48291377",
    "Je bestelling 48291377 is verzonden. Kortingscode voor de volgende keer: HERFST10. Postcode 1012 JS."
  ),
  mail(
    "cs",
    "objednávka",
    "Objednávka 48291377",
    "Objednávka č. 48291377 byla odeslána. PSČ 11000. Částka 4821 Kč. IČO 12345678."
  ),
  mail(
    "en",
    "code sent elsewhere",
    "Check your phone",
    "We sent a verification code to the phone number ending in 4821. Enter it within 10 minutes to sign in."
  ),
  mail(
    "en",
    "ticket about a code",
    "48213 - login code does not arrive",
    "Bob wrote on ticket 48213: the verification code does not arrive since 2026."
  ),
  mail(
    "en",
    "employees and PINs",
    "New PINs",
    "4821 employees have a new PIN since Monday. 200000 tokens were replaced."
  ),
  mail(
    "en",
    "pull request by number",
    "Re: [acme/shop] Add one-time codes (#4821)",
    "Merged #4821 into main. It adds 1250 lines of code, and closes issue 48213 about the PIN."
  ),
  mail(
    "en",
    "usage report",
    "Your API usage",
    "You used 200000 tokens in October 2026. Your limit is 500000 token per day."
  ),
  mail("en", "door code", "Your stay", "Check-in is at 15:00. The door code is 4821, the Wi-Fi password is below."),
  mail("en", "job", "Your application", "Job code: 482913. Reference R-4821937. We will contact you by 12/10/2026."),
  mail("de", "Fehlercode", "Störung", "Das Gerät meldet Fehlercode 50012. Postleitzahl 10115, Ländercode 0049."),
  mail("ru", "код ошибки", "Ошибка", "При оплате возникла ошибка. Код ошибки: 50012. Заказ 48291377."),
  mail("ja", "エラー", "エラーのお知らせ", "エラーコード：50012\n商品コード：48291377"),
  mail("zh", "快递", "快递通知", "您的快递已到，取件码 48-2-1937，请凭取件码482913领取。错误代码：50012"),
  mail("ko", "오류", "오류 알림", "오류 코드: 50012, 상품 코드 48291377")
]
