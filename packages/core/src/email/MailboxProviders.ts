/**
 * Domains at which millions of people have an address. No stranger runs their servers, so each of their addresses that
 * does not exist is evidence of its own. A provider that is missing here counts as any other domain.
 */
export const MAILBOX_PROVIDERS: ReadonlySet<string> = new Set(
  `
  gmail.com googlemail.com icloud.com me.com mac.com proton.me protonmail.com fastmail.com zoho.com mail.com
  outlook.com hotmail.com hotmail.co.uk hotmail.de hotmail.fr hotmail.it live.com msn.com
  yahoo.com yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com.br yahoo.de yahoo.fr ymail.com rocketmail.com aol.com
  att.net comcast.net verizon.net btinternet.com gmx.com gmx.de gmx.net web.de t-online.de freenet.de
  orange.fr free.fr laposte.net libero.it mail.ru yandex.ru qq.com 163.com 126.com naver.com rediffmail.com uol.com.br
  `
    .trim()
    .split(/\s+/)
)
