import { mail } from "./LabeledMail.ts"

export const EUROPE = [
  mail(
    "de",
    "GitHub-artig",
    "Bitte bestätige dein Gerät",
    "Hallo ada,\n\num die Anmeldung abzuschließen, gib den Bestätigungscode auf dem neuen Gerät ein.\n\nGerät: Firefox unter Linux\nBestätigungscode: 482913\n\nDanke",
    "482913"
  ),
  mail(
    "de",
    "Google",
    "E-Mail-Bestätigungscode: 730184",
    "Guten Tag,\n\nIhr Google-Bestätigungscode lautet:\n\n730184\n\nWenn Sie diesen Code nicht angefordert haben, leiten Sie ihn an niemanden weiter.\n\nGoogle LLC, 1600 Amphitheatre Parkway, Mountain View, CA 94043",
    "730184"
  ),
  mail(
    "de",
    "Microsoft",
    "Sicherheitscode für das Microsoft-Konto",
    `<table><tr><td>Verwenden Sie den folgenden Sicherheitscode für das Microsoft-Konto ad**l@example.com.</td></tr><tr><td>Sicherheitscode: <b>104477</b></td></tr><tr><td>Vielen Dank<br>Ihr Microsoft-Team</td></tr></table>`,
    "104477"
  ),
  mail(
    "de",
    "Bank, mTAN",
    "Ihre TAN",
    "Die TAN für Ihre Überweisung über 1.249,00 EUR an Konto DE02120300000000202051 lautet: 338291",
    "338291"
  ),
  mail(
    "de",
    "PayPal",
    "Ihr Code",
    "PayPal: Ihr Sicherheitscode lautet 104882. Ihr Code läuft in 10 Minuten ab. Geben Sie ihn nicht weiter.",
    "104882"
  ),
  mail(
    "de",
    "Code nach Satz",
    "Anmelden",
    "Ihr Code zur Anmeldung bei Beispiel lautet 739204 und ist 10 Minuten gültig.",
    "739204"
  ),
  mail(
    "de",
    "Bestätigungslink",
    "Bitte bestätigen Sie Ihre E-Mail-Adresse",
    `<p>Willkommen bei Beispiel!</p><p><a href="https://beispiel.example/konto/aktivierung?schluessel=4f5e6d7c8b9a0f1e">E-Mail-Adresse bestätigen</a></p><p><a href="https://beispiel.example/datenschutz">Datenschutz</a> · <a href="https://beispiel.example/abmelden?id=99887766aa">Abmelden</a></p><p>Beispiel GmbH, Musterstraße 12, 10115 Berlin, HRB 123456</p>`,
    null,
    "https://beispiel.example/konto/aktivierung?schluessel=4f5e6d7c8b9a0f1e"
  ),
  mail(
    "de",
    "Passwort zurücksetzen",
    "Passwort zurücksetzen",
    "Sie möchten Ihr Passwort zurücksetzen? Öffnen Sie diesen Link:\n\nhttps://beispiel.example/passwort/neu/8b9a0f1e2d3c4f5e\n\nDer Link gilt bis 12.10.2026, 18:00 Uhr.",
    null,
    "https://beispiel.example/passwort/neu/8b9a0f1e2d3c4f5e"
  ),
  mail("de", "Code zuerst", "Code", "482 913 ist Ihr Bestätigungscode für Beispiel. Gültig bis 09:24 Uhr.", "482913"),
  mail("de", "Einmalpasswort", "Einmalpasswort", "Ihr Einmalpasswort: 90817263\nKundennummer: 48213377", "90817263"),
  mail(
    "fr",
    "GitHub",
    "Vérifiez votre appareil",
    "Bonjour ada,\n\nPour terminer la connexion, saisissez le code de vérification sur le nouvel appareil.\n\nAppareil : Firefox sous Linux\nCode de vérification : 482913\n\nMerci",
    "482913"
  ),
  mail(
    "fr",
    "Google",
    "Code de validation : 730184",
    "Votre code de validation Google est le suivant :\n\n730184\n\nSi vous n'avez pas demandé ce code, ne le transmettez à personne.",
    "730184"
  ),
  mail(
    "fr",
    "Apple",
    "Vérifiez votre adresse e-mail",
    "Bonjour Ada,\n\nPour confirmer que cette adresse vous appartient, saisissez le code ci-dessous sur la page de vérification :\n\n910273\n\nCe code expirera trois heures après l'envoi de cet e-mail.\n\nCopyright © 2026 Apple Distribution International Ltd.",
    "910273"
  ),
  mail(
    "fr",
    "banque",
    "Votre code de sécurité",
    "BANQUE : votre code est 338291 pour un achat de 1249,00 EUR le 12/10/2026. Ne le communiquez à personne.",
    "338291"
  ),
  mail(
    "fr",
    "HTML, entités",
    "Code de v&eacute;rification",
    `<p>Votre code de v&eacute;rification est&nbsp;:</p><p><strong>204&nbsp;951</strong></p><p>Il expire dans 10&nbsp;minutes.</p>`,
    "204951"
  ),
  mail(
    "fr",
    "mot de passe à usage unique",
    "Mot de passe à usage unique",
    "Voici votre mot de passe à usage unique : 90817263",
    "90817263"
  ),
  mail(
    "fr",
    "lien",
    "Confirmez votre adresse",
    `<p>Bienvenue !</p><p><a href="https://boutique.example/compte/validation/4f5e6d7c8b9a0f1e2d3c">Confirmer mon adresse e-mail</a></p><p><a href="https://boutique.example/desinscription/99887766aa">Se désinscrire</a></p>`,
    null,
    "https://boutique.example/compte/validation/4f5e6d7c8b9a0f1e2d3c"
  ),
  mail("fr", "code d'abord", "Connexion", "739204 est votre code de connexion. Il est valable 10 minutes.", "739204"),
  mail(
    "es",
    "GitHub",
    "Verifica tu dispositivo",
    "Hola, ada:\n\nPara completar el inicio de sesión, introduce el código de verificación en el dispositivo nuevo.\n\nDispositivo: Firefox en Linux\nCódigo de verificación: 482913",
    "482913"
  ),
  mail(
    "es",
    "Google",
    "Código de verificación: 730184",
    "Tu código de verificación de Google es:\n\n730184\n\nSi no has solicitado este código, no se lo reenvíes a nadie.",
    "730184"
  ),
  mail(
    "es",
    "Amazon",
    "Verifica tu nueva cuenta",
    `<p>Para verificar tu dirección, usa la siguiente contraseña de un solo uso:</p><p>672940</p><p>No compartas esta contraseña con nadie.</p>`,
    "672940"
  ),
  mail(
    "es",
    "banco",
    "Clave de firma",
    "BANCO: la clave para confirmar tu compra de 1.249,00 EUR es 338291. Nadie del banco te la pedirá.",
    "338291"
  ),
  mail("es", "código primero", "Tu código", "739204 es tu código de acceso a Ejemplo. Caduca en 10 minutos.", "739204"),
  mail(
    "es",
    "enlace",
    "Confirma tu cuenta",
    `<p>¡Hola!</p><p><a href="https://tienda.example/cuenta/alta?clave=4f5e6d7c8b9a0f1e">Confirmar mi cuenta</a></p><p><a href="https://tienda.example/ayuda">Ayuda</a></p>`,
    null,
    "https://tienda.example/cuenta/alta?clave=4f5e6d7c8b9a0f1e"
  ),
  mail(
    "es",
    "restablecer",
    "Restablece tu contraseña",
    "Para restablecer tu contraseña, abre este enlace:\nhttps://tienda.example/contrasena/nueva/8b9a0f1e2d3c4f5e\n\nPedido 48291377",
    null,
    "https://tienda.example/contrasena/nueva/8b9a0f1e2d3c4f5e"
  ),
  mail(
    "pt",
    "Google",
    "Código de verificação: 730184",
    "Seu código de verificação do Google é:\n\n730184\n\nSe você não solicitou este código, ignore este e-mail.",
    "730184"
  ),
  mail(
    "pt",
    "banco",
    "Seu código de segurança",
    "BANCO: seu código de segurança é 338291. Não compartilhe. Compra de R$ 1.249,00 em 12/10/2026.",
    "338291"
  ),
  mail(
    "pt",
    "Nubank",
    "Código de confirmação",
    "Olá, Ada!\n\nUse o código abaixo para confirmar seu e-mail:\n\n4821\n\nEle vale por 15 minutos.\n\nNu Pagamentos S.A. CNPJ 18.236.120/0001-58",
    "4821"
  ),
  mail("pt", "senha de uso único", "Senha de uso único", "A sua senha de uso único é 90817263.", "90817263"),
  mail(
    "pt",
    "link",
    "Confirme seu e-mail",
    "Olá!\n\nClique no link para confirmar seu e-mail: https://loja.example/conta/confirmar/4f5e6d7c8b9a0f1e\n\nCNPJ 12.345.678/0001-95",
    null,
    "https://loja.example/conta/confirmar/4f5e6d7c8b9a0f1e"
  ),
  mail("pt", "código primeiro", "Código", "739204 é o seu código de acesso.", "739204"),
  mail(
    "it",
    "Google",
    "Codice di verifica: 730184",
    "Il tuo codice di verifica Google è:\n\n730184\n\nSe non hai richiesto questo codice, non inoltrarlo a nessuno.",
    "730184"
  ),
  mail(
    "it",
    "banca",
    "Codice OTP",
    "BANCA: il codice per autorizzare il pagamento di 1.249,00 EUR del 12/10/2026 è 338291. Non comunicarlo a nessuno.",
    "338291"
  ),
  mail(
    "it",
    "Poste, SPID",
    "Codice temporaneo",
    "Gentile Ada,\n\nutilizza il seguente codice temporaneo per completare l'accesso:\n\n204951\n\nIl codice scade alle ore 15:40 del 12/10/2026.",
    "204951"
  ),
  mail("it", "codice prima", "Accesso", "739204 è il tuo codice di accesso. Scade tra 10 minuti.", "739204"),
  mail(
    "it",
    "link",
    "Conferma la tua e-mail",
    `<p>Ciao!</p><p><a href="https://negozio.example/account/attivazione/4f5e6d7c8b9a0f1e">Conferma il tuo indirizzo</a></p>`,
    null,
    "https://negozio.example/account/attivazione/4f5e6d7c8b9a0f1e"
  ),
  mail("it", "password monouso", "Password monouso", "La tua password monouso è: 90817263", "90817263"),
  mail(
    "nl",
    "DigiD",
    "Controlecode",
    "Uw controlecode is: 482913\n\nVul deze code in om uw e-mailadres te bevestigen. De code is 15 minuten geldig.",
    "482913"
  ),
  mail(
    "nl",
    "bank",
    "Beveiligingscode",
    "Gebruik 338291 als beveiligingscode voor uw betaling van EUR 1249.",
    "338291"
  ),
  mail(
    "nl",
    "link",
    "Bevestig je e-mailadres",
    `<p>Welkom!</p><p><a href="https://winkel.example/account/4f5e6d7c8b9a0f1e/bevestigen">Bevestig e-mailadres</a></p><p><a href="https://winkel.example/uitschrijven/99887766aa">Uitschrijven</a></p>`,
    null,
    "https://winkel.example/account/4f5e6d7c8b9a0f1e/bevestigen"
  ),
  mail(
    "nl",
    "verificatiecode",
    "Je verificatiecode",
    "Hoi Ada,\n\nJe verificatiecode is 739 204.\n\nGroet,\nVoorbeeld B.V., Keizersgracht 4821, 1015 CJ Amsterdam",
    "739204"
  ),
  mail("pl", "Allegro", "Kod weryfikacyjny", "Twój kod weryfikacyjny to: 482913\n\nKod jest ważny 10 minut.", "482913"),
  mail("pl", "bank", "Kod SMS", "Kod do autoryzacji przelewu na kwotę 1249,00 PLN: 338291. Data: 12.10.2026", "338291"),
  mail("pl", "hasło jednorazowe", "Hasło jednorazowe", "Hasło jednorazowe: 90817263", "90817263"),
  mail(
    "pl",
    "link",
    "Potwierdź adres e-mail",
    "Aby potwierdzić adres e-mail, kliknij link:\n\nhttps://sklep.example/konto/aktywacja/4f5e6d7c8b9a0f1e",
    null,
    "https://sklep.example/konto/aktywacja/4f5e6d7c8b9a0f1e"
  ),
  mail("pl", "kod najpierw", "Kod", "739204 to Twój kod logowania do serwisu Przykład.", "739204"),
  mail("cs", "Seznam", "Ověřovací kód", "Váš ověřovací kód je 482913. Platí 10 minut.", "482913"),
  mail(
    "cs",
    "banka",
    "Potvrzovací kód",
    "BANKA: Kód pro potvrzení platby 1 249,00 Kč dne 12.10.2026: 338291",
    "338291"
  ),
  mail(
    "cs",
    "odkaz",
    "Potvrďte svůj e-mail",
    `<p>Dobrý den,</p><p><a href="https://obchod.example/ucet/4f5e6d7c8b9a0f1e">Potvrdit e-mail</a></p><p><a href="https://obchod.example/odhlasit/99887766aa">Odhlásit odběr</a></p>`,
    null,
    "https://obchod.example/ucet/4f5e6d7c8b9a0f1e"
  ),
  mail("cs", "jednorázové heslo", "Jednorázové heslo", "Vaše jednorázové heslo: 90817263", "90817263"),
  mail(
    "cs",
    "kód na řádku",
    "Přihlášení",
    "Pro přihlášení zadejte tento kód:\n\n739204\n\nTento kód nikomu nesdělujte.",
    "739204"
  ),
  mail("sk", "kód", "Overovací kód", "Váš overovací kód je: 482913", "482913"),
  mail("hu", "kód", "Ellenőrző kód", "Az Ön ellenőrző kódja: 482913. A kód 10 percig érvényes.", "482913"),
  mail(
    "hu",
    "link",
    "E-mail-cím megerősítése",
    `<p><a href="https://bolt.example/fiok/4f5e6d7c8b9a0f1e">E-mail-cím megerősítése</a></p>`,
    null,
    "https://bolt.example/fiok/4f5e6d7c8b9a0f1e"
  ),
  mail("ro", "cod", "Codul de verificare", "Codul tău de verificare este 482913. Nu îl comunica nimănui.", "482913"),
  mail("sv", "kod", "Din verifieringskod", "Din verifieringskod är 482913. Koden är giltig i 10 minuter.", "482913"),
  mail(
    "sv",
    "länk",
    "Bekräfta din e-postadress",
    `<p><a href="https://butik.example/konto/4f5e6d7c8b9a0f1e">Bekräfta e-postadress</a></p>`,
    null,
    "https://butik.example/konto/4f5e6d7c8b9a0f1e"
  ),
  mail("da", "kode", "Din bekræftelseskode", "Din bekræftelseskode er 482913.", "482913"),
  mail("no", "kode", "Engangskode", "Engangskoden din er: 482913", "482913"),
  mail("fi", "koodi", "Vahvistuskoodi", "Vahvistuskoodisi on 482913. Koodi vanhenee 10 minuutissa.", "482913"),
  mail(
    "tr",
    "Google",
    "E-posta Doğrulama Kodu: 730184",
    "Google doğrulama kodunuz:\n\n730184\n\nBu kodu siz istemediyseniz kimseyle paylaşmayın.",
    "730184"
  ),
  mail(
    "tr",
    "banka",
    "Onay kodu",
    "BANKA: 1.249,00 TL tutarındaki işleminiz için onay kodunuz 338291. 12.10.2026 15:30",
    "338291"
  ),
  mail(
    "tr",
    "tek kullanımlık şifre",
    "Tek kullanımlık şifre",
    "Tek kullanımlık şifreniz: 90817263. Kimseyle paylaşmayın.",
    "90817263"
  ),
  mail(
    "tr",
    "Trendyol",
    "Doğrulama kodu",
    `<table><tr><td>Merhaba Ada,</td></tr><tr><td>Giriş yapmak için doğrulama kodunuz:</td></tr><tr><td>482913</td></tr><tr><td>Kod 3 dakika geçerlidir.</td></tr><tr><td>Maslak Mah. No: 4821, 34485 İstanbul</td></tr></table>`,
    "482913"
  ),
  mail(
    "tr",
    "bağlantı",
    "E-posta adresini doğrula",
    `<p><a href="https://magaza.example/hesap/4f5e6d7c8b9a0f1e">E-posta adresimi doğrula</a></p>`,
    null,
    "https://magaza.example/hesap/4f5e6d7c8b9a0f1e"
  ),
  mail(
    "ru",
    "Яндекс",
    "Код подтверждения",
    "Здравствуйте!\n\nВаш код подтверждения: 482913\n\nНикому не сообщайте его.",
    "482913"
  ),
  mail(
    "ru",
    "VK",
    "Код для входа",
    "<p>Код для входа в аккаунт:</p><p><b>739204</b></p><p>Если вы не запрашивали код, смените пароль.</p><p>© 2026 ООО «Пример», 125167, Москва, Ленинградский пр., 39</p>",
    "739204"
  ),
  mail(
    "ru",
    "банк",
    "Подтверждение операции",
    "Никому не говорите код 338291! Перевод 1249 р. на карту *4821.",
    "338291"
  ),
  mail("ru", "код в начале", "Код", "482913 — ваш код для входа в Пример.", "482913"),
  mail(
    "ru",
    "одноразовый пароль",
    "Одноразовый пароль",
    "Ваш одноразовый пароль: 90817263. Действует до 15:40.",
    "90817263"
  ),
  mail(
    "ru",
    "ссылка",
    "Подтвердите почту",
    `<p>Чтобы завершить регистрацию, нажмите на кнопку.</p><p><a href="https://magazin.example/u/4f5e6d7c8b9a0f1e">Подтвердить почту</a></p><p><a href="https://magazin.example/otpiska/99887766aa">Отписаться</a></p>`,
    null,
    "https://magazin.example/u/4f5e6d7c8b9a0f1e"
  ),
  mail(
    "ru",
    "Mail.ru, номер заказа",
    "Код для получения",
    "Заказ 48291377. Код подтверждения: 5821. Срок — до 12.10.2026.",
    "5821"
  ),
  mail("uk", "Дія", "Код підтвердження", "Ваш код підтвердження: 482913. Нікому його не повідомляйте.", "482913"),
  mail("uk", "код спочатку", "Код", "739204 — ваш код для входу.", "739204"),
  mail("bg", "код", "Код за потвърждение", "Вашият код за потвърждение е 482913.", "482913"),
  mail("el", "κωδικός", "Κωδικός επαλήθευσης", "Ο κωδικός επαλήθευσής σας είναι: 482913", "482913"),
  mail(
    "el",
    "κωδικός στη γραμμή",
    "Σύνδεση",
    "Εισαγάγετε τον παρακάτω κωδικό:\n\n739204\n\nΙσχύει για 10 λεπτά.",
    "739204"
  )
]
