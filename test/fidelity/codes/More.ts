import { both, mail } from "./LabeledMail.ts"

/** Written after the rules, in two steps, to see how they do on mail that they were not made with. */
export const MORE = [
  mail(
    "en",
    "Netflix, sign-in code",
    "Netflix: Your sign-in code",
    `<table><tr><td>Enter this code to sign in</td></tr><tr><td>Hi Ada,</td></tr><tr><td>Enter the code below on your device to sign in to Netflix.</td></tr><tr><td>4471</td></tr><tr><td>This code will expire in 15 minutes. To protect your account, please don't forward this email or give out this code.</td></tr><tr><td>Requested from: Living Room TV, Oct 12 at 9:14 AM PDT</td></tr><tr><td>SRC: 8A2F_en_US_EVO 100 Winchester Circle, Los Gatos, CA 95032, U.S.A.</td></tr></table>`,
    "4471"
  ),
  mail(
    "en",
    "Spotify, code",
    "Your Spotify login code – 508119",
    "Enter this code to log in:\n\n508119\n\nThe code will expire in 20 minutes. If you didn't try to log in, ignore this email.\n\nSpotify AB, Regeringsgatan 19, 111 53 Stockholm, Sweden",
    "508119"
  ),
  mail(
    "en",
    "TikTok",
    "482913 is your verification code",
    "Hi ada_1985,\n\nTo verify your account, enter this code in TikTok:\n\n482913\n\nVerification codes expire after 48 hours.\n\nIf you didn't request this code, you can ignore this message.\n\nTikTok Support Team",
    "482913"
  ),
  mail(
    "en",
    "Reddit",
    "Reddit: verification code",
    "Your verification code is:\n482913\nUse it within 30 minutes. u/ada_1985, do not share it.\n548 Market St #16093, San Francisco, CA 94104-5401",
    "482913"
  ),
  mail(
    "en",
    "Shopify",
    "Your Shop code: 204-118",
    "Use this code to sign in with Shop: 204-118. It expires in 10 minutes.",
    "204118"
  ),
  mail(
    "en",
    "Adobe",
    "Verification code for your Adobe account",
    `<p>Your verification code is</p><h1>339104</h1><p>Do not share this code with anyone. If you didn't make this request, <a href="https://account.adobe.com/security">secure your account</a>.</p><p>Adobe, 345 Park Avenue, San Jose, CA 95110-2704 USA. © 2026 Adobe.</p>`,
    "339104"
  ),
  mail(
    "en",
    "Salesforce",
    "Verify your identity in Salesforce",
    "Hi Ada,\n\nWe need to verify your identity because you logged in from an unfamiliar device.\n\nUsername: ada@acme.example\nVerification Code: 30917\nIP address: 198.51.100.23\nTime: 10/12/2026, 9:14 AM PDT\n\nIf you didn't log in, contact your admin.",
    "30917"
  ),
  mail(
    "en",
    "HubSpot, double",
    "Your HubSpot login code",
    "Here's your one-time login code.\n\n83-91-20\n\nThis code will only be valid for the next 10 minutes.",
    "839120"
  ),
  mail(
    "en",
    "Robinhood",
    "Your Robinhood verification code",
    "Your device approval code: 663 201 (never share it, not even with Robinhood).",
    "663201"
  ),
  mail(
    "en",
    "Trello-like",
    "Confirm it's you",
    "We've sent this mail since you asked for a code.\n\n   Code:   551 204\n\nValid till 09:24.",
    "551204"
  ),
  mail(
    "en",
    "Proton",
    "Proton verification code",
    "Your Proton verification code is:\n\n190827\n\nProton AG, Route de la Galaise 32, 1228 Plan-les-Ouates, Geneva",
    "190827"
  ),
  mail(
    "en",
    "DocuSign access",
    "Your DocuSign access code",
    "Your access code for the envelope of Bob is 882041. It is valid for 5 minutes.",
    "882041"
  ),
  mail(
    "en",
    "Wise",
    "Confirm your transfer of 1,249.00 EUR",
    "Use 338 291 to confirm your transfer of 1,249.00 EUR to Bob.",
    "338291"
  ),
  mail(
    "en",
    "Revolut",
    "Revolut code",
    "Revolut verification code: 338-291. Never give this code to anyone. Not you? Freeze your card.",
    "338291"
  ),
  mail(
    "en",
    "government",
    "Your security code",
    "482 913 is your GOV.EXAMPLE security code. Do not share this code with anyone.",
    "482913"
  ),
  mail(
    "en",
    "school",
    "Verify your email for Canvas",
    "Please enter this six-digit number to verify your email: 482913",
    "482913"
  ),
  mail(
    "en",
    "airline account",
    "Your account security code",
    "Dear Ada,\n\nYour one-time code to log in to your SkyMiles account 9012345678 is:\n\n204951\n\nBook your next flight at https://air.example.",
    "204951"
  ),
  mail("en", "game, quoted", "Security code", `Your security code is "7KQ2M". It can be used once.`, "7KQ2M"),
  mail("en", "8 letters in lower case and digits", "Verification", "Verification code: 3f9a1c7e", "3f9a1c7e"),
  mail(
    "en",
    "code and time on one line",
    "OTP",
    "OTP 482913 valid till 12-Oct-2026 15:40:00. Do not share. - Example Bank",
    "482913"
  ),
  mail(
    "en",
    "OTP in the middle",
    "Transaction alert",
    "Dear Customer, 482913 is your OTP for txn of INR 4821.00 at SHOP on card XX4821. Valid for 3 mins.",
    "482913"
  ),
  mail("en", "OTP is", "OTP", "Your OTP is 4829. Ref no. 99887766", "4829"),
  mail(
    "en",
    "please use",
    "Email verification",
    "Please use the following to verify your email address within 15 minutes: 482913",
    "482913"
  ),
  mail(
    "en",
    "heading and box",
    "Hello",
    `<div>Hello Ada</div><div><div>Confirmation code</div><div><span style="font-size:30px">4</span><span>8</span><span>2</span><span>&nbsp;</span><span>9</span><span>1</span><span>3</span></div></div>`,
    "482913"
  ),
  mail(
    "en",
    "temporary password",
    "Your new account",
    "An account was created for you.\n\nUser name: ada.lovelace\nTemporary password: x7Kp2mQ9\n\nChange it when you first sign in.",
    "x7Kp2mQ9"
  ),
  mail(
    "en",
    "account PIN with years",
    "Your account PIN",
    "Since 1998 we have protected accounts. Your PIN: 2048",
    "2048"
  ),
  both(
    "en",
    "text part says nothing",
    "Your code",
    ["This mail is best viewed in HTML.", `<p>Your verification code is <b>482913</b>.</p>`],
    "482913"
  ),
  mail(
    "en",
    "resend in a thread",
    "Your new code",
    "You asked for a new code. The code that we sent before no longer works.\n\nNew code: 739204",
    "739204"
  ),
  mail(
    "en",
    "link and fallback address",
    "Verify your email",
    `<p><a href="https://track.mail.example/c/AbC123dEf456">Verify email address</a></p><p>Or paste this into your browser: <a href="https://track.mail.example/c/ZyX987wVu654">https://shop.example/verify-email/0f4c3b2a19d8e7</a></p>`,
    null,
    "https://track.mail.example/c/AbC123dEf456"
  ),
  mail(
    "en",
    "magic link in text",
    "Your sign-in link",
    "Hi,\n\nclick here to sign in: https://shop.example/auth/magic/0f4c3b2a19d8e7\n\nIt works for 15 minutes.\n\nNot you? Ignore this, or write to https://shop.example/contact",
    null,
    "https://shop.example/auth/magic/0f4c3b2a19d8e7"
  ),
  mail(
    "en",
    "invitation to a team",
    "Bob invited you to Acme on Example",
    `<p>Bob (bob@acme.example) has invited you to join Acme.</p><p><a href="https://app.example/invite/0f4c3b2a19d8e7f6">Accept invitation</a></p><p><a href="https://app.example/help">Help</a></p>`,
    null,
    "https://app.example/invite/0f4c3b2a19d8e7f6"
  ),
  mail(
    "en",
    "two links that confirm",
    "Approve a sign-in",
    `<p><a href="https://id.example/approve?t=0f4c3b2a19">Confirm it was me</a> <a href="https://id.example/deny?t=0f4c3b2a19">It wasn't me</a></p>`,
    null,
    "https://id.example/approve?t=0f4c3b2a19"
  ),
  mail(
    "en",
    "activate with a Markdown link",
    "Activate your account",
    "Welcome!\n\n[Activate your account](https://shop.example/activate/0f4c3b2a19d8e7)\n\nThe team",
    null,
    "https://shop.example/activate/0f4c3b2a19d8e7"
  ),
  mail(
    "en",
    "Mailgun-like wrapped link",
    "Confirm your account",
    "Please confirm your account by clicking the link below:\n\n<https://shop.example/c?i=0f4c3b2a19d8e7&s=9>\n\nThanks",
    null,
    "https://shop.example/c?i=0f4c3b2a19d8e7&s=9"
  ),
  // Without a code.
  mail(
    "en",
    "calendar of numbers",
    "Standup notes",
    "Ada: 4821 done, PIN pad next.\nBob: code review of 48213, then 1250.\nSprint 2026-41."
  ),
  mail(
    "en",
    "shipping with code words",
    "Delivery update",
    "Your parcel 48291377 is out for delivery. The driver will ask for your security code. You find it in the app."
  ),
  mail(
    "en",
    "bank notice",
    "Security alert",
    "We never ask for your PIN or password. If you got a call from 0800 4821937, hang up. Case 48213."
  ),
  mail(
    "en",
    "code expired",
    "Your code has expired",
    "The verification code that you requested on 10/12/2026 at 15:30 has expired. Request a new one at https://shop.example/login."
  ),
  mail(
    "en",
    "attempts",
    "Too many attempts",
    "You entered a wrong code 5 times. Your account 48213377 is locked for 1440 minutes. Incident 9f3ab21c."
  ),
  mail(
    "en",
    "API key made",
    "A new API token was created",
    "The token ci-2026 ending in 4821 was created for your account. If this wasn't you, revoke it."
  ),
  mail(
    "en",
    "Wi-Fi",
    "Welcome, guest",
    "Network: Guest-4821\nPassword: sunny-day\nRoom: 1203\nSafe deposit: ask at the desk."
  ),
  mail("en", "statistics of codes", "OTP report", "Sent OTPs: 48213\nFailed: 1250\nDelivered: 46963"),
  mail(
    "en",
    "bug report",
    "[Bug 48213] Login code is wrong",
    "Comment #12: the login code 000000 is accepted in build 20261012. See attachment 99887.",
    null
  ),
  mail(
    "en",
    "coupon PIN",
    "Your reward",
    "Card number: 4821 9377 1029 3847\nPIN: 5566\nValue: $25. Enjoy your gift card!"
  ),
  mail(
    "en",
    "stock",
    "Your order of securities",
    "Security code: 600519. You bought 1000 shares at 1249.00 CNY.",
    null
  ),
  mail("en", "airport", "Trip to London", "Airport code EGLL, gate 4821, booking code XKQ2M7."),
  mail("en", "conference", "Webinar tomorrow", "Access code: 482913#. Dial +1 650 555 0123 to join the conference."),
  mail(
    "en",
    "license key",
    "Your license",
    "Thank you for buying Example 2026. License key: K7M2P-9QX4T-R2T8W. Order 48291377."
  ),
  mail("en", "tracking", "Shipped", "Track with code RR482913377CN on the site of the post."),
  mail("en", "postcode first", "Delivery address", "SW1A 1AA is your postcode. 1203 is your flat."),
  mail(
    "en",
    "survey",
    "Tell us what you think",
    `<p>Your opinion counts.</p><p><a href="https://s.example/r/0f4c3b2a19d8e7f6">Start the survey</a></p><p>Ref. 48213377</p>`
  ),
  mail(
    "en",
    "comment notification",
    "Bob commented",
    `<p>Bob: please verify the numbers, 4821 seems wrong.</p><p><a href="https://app.example/c/0f4c3b2a19d8e7f6?n=1">View comment</a></p><p><a href="https://app.example/unsub/0f4c3b2a19">Unsubscribe</a></p>`
  ),
  mail(
    "en",
    "password help",
    "Your account was locked",
    `<p>Sign in again or <a href="https://shop.example/reset">reset your password</a>. Case 48213377.</p>`
  ),
  mail(
    "de",
    "Sparkasse",
    "pushTAN",
    "Ihre TAN lautet 482 913. Auftrag: Überweisung 1.249,00 EUR an DE02 1203 0000 0000 2020 51.",
    "482913"
  ),
  mail(
    "de",
    "Telekom",
    "Ihr Bestätigungscode",
    "Guten Tag,\n\nbitte geben Sie den folgenden Code ein, um Ihre E-Mail-Adresse zu bestätigen:\n\n482913\n\nFreundliche Grüße\nIhr Team\n\nTelekom Deutschland GmbH, Landgrabenweg 151, 53227 Bonn",
    "482913"
  ),
  mail(
    "de",
    "zwei Felder",
    "Zugangsdaten",
    "Benutzername: ada1985\nEinmalcode: 7KQ2MX\nGültig bis: 12.10.2026",
    "7KQ2MX"
  ),
  mail(
    "de",
    "Abholcode",
    "Ihr Paket in der Packstation",
    "Ihr Paket liegt in Packstation 142. Abholcode: 482913. Straße des 17. Juni 135, 10623 Berlin"
  ),
  mail(
    "de",
    "Termin",
    "Ihr Termin",
    "Ihr Termin am 12.10.2026 um 15:30 Uhr in Zimmer 4821. Vorgangsnummer 48213377. Bitte bestätigen."
  ),
  mail(
    "fr",
    "La Poste",
    "Votre code de confirmation",
    "Bonjour,\n\nVoici votre code de confirmation : 482913.\nIl est valable 15 minutes.\n\nLa Poste - SA au capital de 3 800 000 000 euros - 356 000 000 RCS Paris",
    "482913"
  ),
  mail(
    "fr",
    "impôts",
    "Code de sécurité",
    "Saisissez le code 482913 pour accéder à votre espace. N° fiscal : 1234567890123",
    "482913"
  ),
  mail(
    "fr",
    "rendez-vous",
    "Votre rendez-vous",
    "Rendez-vous le 12/10/2026 à 15h30, 4821 avenue de la République, 75011 Paris. Code porte : 4821A."
  ),
  mail(
    "es",
    "BBVA",
    "Tu clave de operaciones",
    "Tu clave de operaciones es: 482913. Importe 1.249,00 EUR. Tarjeta *4821",
    "482913"
  ),
  mail(
    "es",
    "Mercado Libre",
    "Código de seguridad",
    "Ingresa este código para continuar:\n\n482913\n\nVence en 15 minutos. No lo compartas.",
    "482913"
  ),
  mail(
    "es",
    "cita",
    "Cita confirmada",
    "Tu cita es el 12/10/2026 a las 15:30. Localizador: K7M2P9. Expediente 48213377."
  ),
  mail("pt", "gov.br", "Código de acesso gov.br", "Seu código de acesso gov.br: 482913. Protocolo 20261012.", "482913"),
  mail("pt", "iFood", "Código", "Seu código iFood é 4829. Não envie para ninguém.", "4829"),
  mail(
    "it",
    "Intesa",
    "Codice di conferma",
    "Codice di conferma 482913 per bonifico di 1.249,00 EUR. Non comunicarlo.",
    "482913"
  ),
  mail(
    "it",
    "appuntamento",
    "Appuntamento",
    "Appuntamento il 12/10/2026 alle 15:30. Codice prenotazione K7M2P9. CAP 20121."
  ),
  mail("nl", "PostNL", "Je ophaalcode", "Je pakket ligt klaar. Barcode 3SABCD1234567, postcode 1012JS."),
  mail(
    "nl",
    "inlogcode",
    "Je inlogcode",
    "Vul deze inlogcode in:\n\n482913\n\nDe code verloopt over 10 minuten.",
    "482913"
  ),
  mail("pl", "InPost", "Kod odbioru", "Paczka 630123456789012345678901 czeka. Paczkomat WAW123A, kod pocztowy 00-950."),
  mail("pl", "mBank", "Kod", "Operacja nr 1 z 12-10-2026 kod SMS: 48291377", "48291377"),
  mail("cs", "ČSOB", "SMS klíč", "Bezpečnostní kód: 482913. Částka 1 249,00 CZK. Platnost 5 min.", "482913"),
  mail("cs", "zásilka", "Zásilka", "Zásilka Z 482 9137 7 je připravena. PSČ 110 00. Dobírka 4821 Kč."),
  mail(
    "tr",
    "e-Devlet",
    "Doğrulama",
    "e-Devlet Kapısı doğrulama kodunuz: 482913. Kodu kimseyle paylaşmayınız.",
    "482913"
  ),
  mail("tr", "kargo", "Kargonuz yolda", "48291377 no'lu kargonuz 12.10.2026 tarihinde teslim edilecek. 34710 İstanbul"),
  mail(
    "ru",
    "Госуслуги",
    "Код подтверждения",
    "Код для подтверждения входа на Госуслуги: 4829. Никому его не сообщайте.",
    "4829"
  ),
  mail("ru", "Сбер", "Пароль", "Пароль 48291 для входа в СберБанк Онлайн. Никому его не сообщайте.", "48291"),
  mail(
    "ru",
    "доставка",
    "Доставка",
    "Заказ 48291377 прибыл. Пункт выдачи: ул. Ленина, 4821, индекс 125167. Код товара 99887766."
  ),
  mail(
    "ja",
    "楽天",
    "ワンタイムキー",
    "以下の認証コードを画面に入力してください。\n\n■認証コード\n482913\n\n■有効期限\n2026/10/12 15:40\n\n東京都世田谷区玉川1-14-1",
    "482913"
  ),
  mail(
    "ja",
    "三菱UFJ",
    "ワンタイムパスワード",
    "ワンタイムパスワードは「482913」です。\n受付番号は99887766です。",
    "482913"
  ),
  mail("ja", "予約", "ご予約の確認", "予約番号：48291377\n日時：2026年10月12日15時30分\n電話：03-1234-5678"),
  mail("ja", "郵便", "お届け", "お問い合わせ番号 4829-1377-1029\n暗証番号は不要です。\n〒150-0001"),
  mail("zh", "微博", "登录验证码", "您正在登录微博，验证码：482913。5分钟内有效，请勿告诉他人。", "482913"),
  mail("zh", "京东", "验证码", "尊敬的用户：482913 是您本次身份校验码，15分钟内有效。", "482913"),
  mail("zh", "物流", "物流", "您的包裹(尾号4821)已由12345号柜签收，电话13800138000。"),
  mail("zh", "发票", "电子发票", "发票代码：031002300411，发票号码：48291377，校验码后六位：482913。", null),
  mail("ko", "쿠팡", "인증번호", "[쿠팡] 본인확인 인증번호(482913)를 입력하세요.", "482913"),
  mail("ko", "토스", "토스 인증", "토스 인증번호는 482913 입니다. 타인에게 알려주지 마세요.", "482913"),
  mail("ko", "배송", "배송 안내", "운송장번호 482913771029, 공동현관 비밀번호를 확인해 주세요. 04524"),
  mail("ar", "تسوق", "رمز", "482913 هو رمز التحقق الخاص بك.", "482913"),
  mail("ar", "شحنة", "شحنتك", "رقم الشحنة 48291377 ورقم الهاتف 0501234567. الرمز البريدي 11564."),
  mail("he", "בנק", "קוד חד-פעמי", "482913 הוא הקוד החד-פעמי שלך", "482913"),
  mail("hi", "बैंक", "ओटीपी", "आपके लेनदेन के लिए ओटीपी है: 482913। राशि 4821 रुपये।", "482913"),
  mail("th", "ธนาคาร", "OTP", "OTP=482913 [รหัสอ้างอิง:KXPQ] เพื่อโอนเงิน 1,249.00 บาท", "482913"),
  mail(
    "vi",
    "ngân hàng",
    "OTP",
    "Ma OTP cua quy khach la 482913, giao dich 1249000 VND luc 15:30 12/10/2026",
    "482913"
  ),
  mail("id", "bank", "Kode OTP", "JANGAN BERIKAN KODE INI KEPADA SIAPA PUN. Kode OTP: 482913", "482913"),
  mail("sv", "BankID", "Engångskod", "Här är din engångskod: 482 913. Den gäller i 10 minuter.", "482913"),
  mail("sv", "paket", "Ditt paket", "Paket 48291377 väntar. Portkod 4821. Postnummer 111 53."),
  mail("fi", "koodi ensin", "Koodi", "482913 on vahvistuskoodisi.", "482913"),
  mail("hu", "jelszó", "Egyszer használatos jelszó", "Egyszer használatos jelszava: 48291377", "48291377"),
  mail("ro", "parola", "Cod", "482913 este codul tău de autentificare.", "482913"),
  mail("el", "τράπεζα", "Κωδικός", "Κωδικός μίας χρήσης: 482913. Ποσό 1.249,00 EUR.", "482913"),
  mail("uk", "ПриватБанк", "Код", "Нікому не кажіть код 4829. Оплата 1249 грн.", "4829"),
  mail(
    "en",
    "Zoho",
    "Zoho Account - OTP Verification",
    `<p>Dear Ada,</p><p>Your One Time Password (OTP) for verifying your email address is</p><h2>4829137</h2><p>This is valid for 10 minutes only.</p><p>Zoho Corporation, 4141 Hacienda Drive, Pleasanton, CA 94588</p>`,
    "4829137"
  ),
  mail(
    "en",
    "Binance",
    "[Binance] Login attempt 2026-10-12 09:14:22 (UTC)",
    "Your verification code:\n\n771204\n\nThe verification code will be valid for 30 minutes. Please do not share this code with anyone.\n\nDon't recognize this activity? Please reset your password and contact customer support.\nThis is an automated message, please do not reply.",
    "771204"
  ),
  mail(
    "en",
    "Roblox",
    "Roblox Login Code",
    "Here is the security code you requested: 330918\nIt was requested from Berlin, Germany at 12/10/2026 09:14.",
    "330918"
  ),
  mail(
    "en",
    "EA",
    "Your EA Security Code is: 551204",
    "Hi Ada,\nHere's your EA Security Code: 551204\nThis code expires in 24 hours.\n© 2026 Electronic Arts Inc. 209 Redwood Shores Parkway, Redwood City, CA 94065",
    "551204"
  ),
  mail(
    "en",
    "Battle.net",
    "Battle.net: code",
    "Your Battle.net security code is 48K2PX. It will expire in 15 minutes.",
    "48K2PX"
  ),
  mail("en", "Ubisoft", "Code", "Hello ada85,\n\nThe code to sign in is:\n\n  8Q2X7M  \n\nCheers", "8Q2X7M"),
  mail("en", "mail.com", "Verify", "Thanks for signing up! Your confirmation code: ABX-4K9", "ABX4K9"),
  mail(
    "en",
    "Bitwarden",
    "Your Bitwarden Verification Code",
    "Your two-step verification code is: 204118\n\nUse this code to complete logging in with Bitwarden.",
    "204118"
  ),
  mail("en", "1Password", "Verification", "Enter this verification code to continue signing up: 318 442", "318442"),
  mail(
    "en",
    "Snapchat",
    "Snapchat Login Verification Code",
    "We received a request to log in.\nSnapchat code: 482913. Do not share it or use it elsewhere!",
    "482913"
  ),
  mail("en", "Telegram email", "Your code - 48291", "Your login code is 48291. Please enter it in Telegram.", "48291"),
  mail(
    "en",
    "pretty digits",
    "Your code",
    `<p>Your verification code:</p><div><b>4 8 2</b> <b>9 1 3</b></div>`,
    "482913"
  ),
  mail("en", "with dots", "Code", "Your code is 482·913", null),
  mail("en", "code with hash", "Verification", "Your verification code is #482913", null),
  mail("en", "parenthesis", "Verification code (482913)", "Hi, somebody tries to sign in.", "482913"),
  mail(
    "en",
    "dash after brand",
    "Acme - 482913 is your sign-in code",
    "Use it on the page that asked for it.",
    "482913"
  ),
  mail("en", "all capitals", "YOUR CODE", "YOUR VERIFICATION CODE IS 482913. DO NOT SHARE IT.", "482913"),
  mail("en", "bold stars", "Login", "Your code is *482913*.", "482913"),
  mail("en", "brackets", "Login", "Your code is [482913].", "482913"),
  mail("en", "new line after is", "Login", "Your login code is\n482913", "482913"),
  mail("en", "two sentences", "Login", "We got a request to log in to Acme. 482913 is the code to use.", "482913"),
  mail("en", "expiry first", "Login", "Valid for 10 minutes: 482913 is your verification code", "482913"),
  mail("en", "code between dashes", "Login", "Your one-time code is:\n\n-------\n482913\n-------\n\nAcme", "482913"),
  mail(
    "en",
    "copy button",
    "Login",
    `<table><tr><td>Verification code:</td><td>482913</td><td><a href="https://x.example/copy">Copy</a></td></tr></table>`,
    "482913"
  ),
  mail(
    "en",
    "account email and code",
    "Confirm",
    "Email: ada@example.com\nCode: 482913\nRequest ID: 99887766",
    "482913"
  ),
  mail("en", "same code thrice", "482913 is your code", "482913\n\nYour code is 482913. Again: 482913.", "482913"),
  mail("en", "PIN and account", "Phone banking", "Customer number: 48213377\nPIN: 8291", "8291"),
  mail("en", "letters and app", "Device login", "Go to example.com/device and enter the code BDWP-HQPK", "BDWPHQPK"),
  mail(
    "en",
    "no code: newsletter about security",
    "5 tips for your passwords",
    "1. Use 12 characters or more.\n2. In 2026, 81000 passwords leaked a day.\n3. Turn on two-factor codes.\n\nUnsubscribe: https://n.example/u/48291377"
  ),
  mail("en", "no code: meeting room", "Room 4821", "The PIN of the lock changes on Monday. Ask at desk 1203."),
  mail(
    "en",
    "no code: sign-up numbers",
    "Welcome, member 4821",
    "You are member 482913 of our club. Sign in to see your card."
  ),
  mail("en", "no code: quote", "Quote 482913", "Please confirm quote 482913 by 12/10/2026. Total 4821.00 EUR."),
  mail(
    "en",
    "no code: verify amount",
    "Verify your bank account",
    "We sent two small deposits to your account ending in 4821. Verify the amounts within 10 days. Reference 482913."
  ),
  mail("en", "no code: RMA", "RMA 482913", "Your return code: 482913. Print the label."),
  mail(
    "en",
    "no code: job alert",
    "12 new jobs",
    "Software engineer, verification (m/w/d), 80331 Munich. Reference code 48213-EN."
  ),
  mail("en", "no code: school class", "Class code", "Join with class code k7m2p9q."),
  mail("en", "no code: ISBN", "New book", "The Code Book, ISBN 9780385495325, 4821 reviews."),
  mail("en", "no code: coordinates", "Plus code", "Plus code 9F4MGC22+22, 52.5163, 13.3777, 10117 Berlin."),
  mail(
    "en",
    "no code: build failed",
    "Build 48213 failed",
    "Process exited with code 1377. Commit 9f3ab21c. Duration 1250 s."
  ),
  mail("en", "no code: HS code", "Customs", "HS code 847130, EORI DE4821937, value 1249 EUR."),
  mail(
    "en",
    "no code: verification done",
    "Verification complete",
    "Your identity verification 48291377 is complete. Thank you."
  ),
  mail(
    "en",
    "no code: reminder",
    "Reminder: enter your code",
    "You have not entered your code yet. Open the app. 10 Downing Street, London SW1A 2AA, 020 7925 0918"
  ),
  mail("en", "no code: numbers list", "Lottery", "Numbers:\n4\n8\n15\n16\n23\n42"),
  mail(
    "en",
    "no code: voucher block",
    "Your voucher",
    "Thanks for being with us.\n\nK7M2P9QX\n\nShow this voucher at the desk."
  ),
  mail(
    "en",
    "no code: train ticket",
    "Your e-ticket",
    "Booking reference K7M2P9. Coach 12, seat 48. Ticket code 4821937."
  ),
  mail("en", "no code: door of hotel", "Your room", "Room 1203. Door PIN 4821. Checkout 11:00."),
  mail(
    "en",
    "link: verify with tracking",
    "Verify your email to start using Acme",
    `<p><a href="https://u1.ct.sendgrid.net/ls/click?upn=Aa1Bb2Cc3Dd4">Verify my email</a></p><p><a href="https://u1.ct.sendgrid.net/ls/click?upn=Zz9Yy8Xx7Ww6">Contact us</a></p><p><a href="https://u1.ct.sendgrid.net/ls/click?upn=Qq1Ww2Ee3Rr4">Manage preferences</a></p>`,
    null,
    "https://u1.ct.sendgrid.net/ls/click?upn=Aa1Bb2Cc3Dd4"
  ),
  mail(
    "en",
    "link: get started",
    "Finish setting up your account",
    `<p><a href="https://app.example/users/confirmation?confirmation_token=yL3VzKx8mQdP1sTwRb2N">Get started</a></p>`,
    null,
    "https://app.example/users/confirmation?confirmation_token=yL3VzKx8mQdP1sTwRb2N"
  ),
  mail(
    "en",
    "link: none in notification",
    "New sign-in to Acme",
    `<p>New sign-in from Berlin. If it wasn't you, <a href="https://ct.example/c/Aa1Bb2Cc3Dd4">reset your password</a>.</p>`
  ),
  mail(
    "en",
    "link: none in invoice",
    "Your invoice",
    `<p><a href="https://pay.example/i/acct_1A2b3C4d5E6f">View invoice</a> <a href="https://pay.example/i/acct_1A2b3C4d5E6f/pdf">Download PDF</a></p>`
  ),
  mail(
    "en",
    "link: image logo first",
    "Confirm your email",
    `<a href="https://shop.example/?utm_source=mail2026"><img src="x.png" alt="Shop"></a><p><a href="https://shop.example/confirm/0f4c3b2a19d8e7">Confirm email</a></p><a href="https://twitter.com/shop20261012">Twitter</a>`,
    null,
    "https://shop.example/confirm/0f4c3b2a19d8e7"
  ),
  mail(
    "en",
    "link: text with two URLs",
    "Activate your account",
    "Activate: https://shop.example/activate/0f4c3b2a19d8e7\nUnsubscribe: https://shop.example/unsubscribe/9a8b7c6d5e4f",
    null,
    "https://shop.example/activate/0f4c3b2a19d8e7"
  ),
  mail(
    "de",
    "ohne Code: Rechnungscode",
    "Mahnung",
    "Bitte geben Sie bei der Zahlung den Code 48213377 als Verwendungszweck an."
  ),
  mail("de", "Code im Satz", "Anmeldung", "Bitte geben Sie den Code 482913 ein, um sich anzumelden.", "482913"),
  mail(
    "de",
    "Steam",
    "Ihr Steam-Konto",
    "Hier ist der Steam-Guard-Code, den Sie für die Anmeldung benötigen:\n\nR7TWK\n\nDiese E-Mail wurde am 12.10.2026 erzeugt.",
    "R7TWK"
  ),
  mail(
    "fr",
    "Steam",
    "Votre compte Steam",
    "Voici le code Steam Guard nécessaire pour vous connecter :\n\nR7TWK\n\nL'équipe Steam",
    "R7TWK"
  ),
  mail("fr", "code en phrase", "Connexion", "Votre code d'accès est le 482913.", "482913"),
  mail("es", "Bizum", "Código", "Tu código para confirmar la operación de 50,00 EUR es 482913", "482913"),
  mail("pt", "Itaú", "iToken", "Código de segurança Itaú: 482 913. Não informe a ninguém.", "482913"),
  mail("it", "SPID", "OTP", "Il codice OTP richiesto è 482913 e scade alle 15:40.", "482913"),
  mail("pl", "profil zaufany", "Kod autoryzacyjny", "Kod autoryzacyjny nr 3 z dnia 12.10.2026: 48291377", "48291377"),
  mail("cs", "bankovní identita", "Kód", "Pro přihlášení do internetového bankovnictví opište kód 482913.", "482913"),
  mail("tr", "Garanti", "Şifre", "Garanti BBVA: 482913 tek kullanımlık şifrenizdir.", "482913"),
  mail("ru", "Тинькофф", "Код", "Код: 4829. Вход в личный кабинет. Никому не сообщайте.", "4829"),
  mail("ru", "без кода: трек", "Посылка", "Посылка 48291377 ждёт вас. Код получения в приложении. Индекс 125167."),
  mail(
    "ja",
    "Steam",
    "あなたの Steam アカウント",
    "ログインに必要な Steam ガードコードは次のとおりです：\n\nR7TWK\n\nSteam チーム",
    "R7TWK"
  ),
  mail(
    "ja",
    "みずほ",
    "認証番号のお知らせ",
    "認証番号は次の通りです。\n\n　４８２９１３\n\n有効期限　２０２６年１０月１２日１５時４０分",
    "482913"
  ),
  mail("ja", "コードなし", "重要なお知らせ", "認証コードの入力が5回失敗しました。受付番号 48213377。2026年10月12日"),
  mail("zh", "没有码", "安全提醒", "您的账号于2026年10月12日登录，请勿将验证码告诉他人。订单48291377，客服95588。"),
  mail("zh", "招商", "动态码", "您的动态码为：482913，用于登录，金额0.00元。【招商银行】", "482913"),
  mail("ko", "번호 없음", "보안 알림", "인증번호를 타인에게 알려주지 마세요. 접수번호 48213377, 고객센터 1588-1234"),
  mail(
    "ko",
    "국민은행",
    "인증번호",
    "[KB국민은행] 본인확인을 위해 [482913]을 입력해 주세요. 인증번호 유출 주의",
    "482913"
  )
]
