import { type Link, readHtml } from "./LooseHtml.ts"
import { CONFIRM, folded, NO_CONFIRM, RESET, SIGN_IN } from "./CodeWords.ts"
import type { ReadableMail } from "./OneTimeCode.ts"

/** The searched part of a text, in characters, and the number of links that are considered. */
const LIMIT = 100_000
const LINKS_LIMIT = 200
const URLS = /https?:\/\/[!-;=?-~]*[\w/=&~-]/gi
/** A text in words for a button or the line before an address, in characters. */
const LABEL_LIMIT = 120
/** Words in the address of a confirmation link. */
const PATH =
  /verif|confirm|activat|magic|reset|recover|log-?in|sign-?in|auth|callback|invit|validat|token|otp|passwordless|action/i

/** Returns the links of a text, each with the words before it: on its line, or else on the one above. */
const linksOfText = (text: string): ReadonlyArray<Link> => {
  let end = 0
  return [...text.slice(0, LIMIT).matchAll(URLS)].map(({ 0: url, index }) => {
    const lines = text.slice(Math.max(end, index - LABEL_LIMIT), index).split("\n")
    end = index + url.length
    return { text: lines.findLast((line) => /\p{L}/u.test(line)) ?? "", url }
  })
}

const has = (words: RegExp, text: string): boolean => text.search(words) >= 0

/** Whether a part of an address is a secret: digits, or letters of both cases. */
const isSecret = (part: string): boolean =>
  (part.length >= 6 && /\d/.test(part)) || (part.length >= 16 && /[a-z]/.test(part) && /[A-Z]/.test(part))

// A link to a page without a secret confirms nothing. Of several links, the one whose text names its action counts.
/** Returns the link of a message that confirms an address or signs in; undefined without exactly one. */
export const confirmationLink = ({ html, subject, text }: ReadableMail): string | undefined => {
  const { links } = readHtml(html ?? "")
  const title = folded(subject.slice(0, 1_000))
  const byText = new Map<string, boolean>()
  for (const { text: words, url: written } of (links.length > 0 ? links : linksOfText(text ?? "")).slice(
    0,
    LINKS_LIMIT
  )) {
    const url = /^[!-~]*$/.test(written) ? written : (URL.parse(written)?.href ?? "")
    const [, path] = /^https?:\/\/[^/?#]+([^]{1,4000})$/i.exec(url) ?? []
    if (path === undefined || !path.split(/[/?&=#.:]/).some(isSecret)) continue
    const label = folded(words.slice(0, 500)).trim().slice(-LABEL_LIMIT)
    if (NO_CONFIRM.test(label) || NO_CONFIRM.test(path.split(/\d/)[0]!)) continue
    const isNamed =
      !/^https?:/i.test(label) &&
      ((has(CONFIRM, label) &&
        (PATH.test(path) || label.search(CONFIRM) === 0 || has(CONFIRM, title) || has(SIGN_IN, title))) ||
        (has(RESET, label) && has(RESET, title)) ||
        (has(SIGN_IN, label) && PATH.test(path)))
    if (isNamed || PATH.test(path)) byText.set(url, isNamed || byText.get(url) === true)
  }
  const named = [...byText].filter(([, isNamed]) => isNamed)
  const [only, ...others] = named.length > 0 ? named : byText
  return others.length > 0 ? undefined : only?.[0]
}
