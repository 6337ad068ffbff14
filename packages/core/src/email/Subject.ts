/** RFC 5322, section 2.1.1: the longest line, and so the longest subject. */
export const SUBJECT_LIMIT = 998

/**
 * The prefixes by which mail programs mark a reply, in the languages that they speak, with a number as in `Re[2]:` and
 * `Re(2):`. A prefix between brackets does not mark a reply: `[team]` names a list.
 */
const REPLY =
  /^\s{0,9}(?:re|aw|sv|vs|vá|odp|antw|antwort|r|rif|res|ynt|yan|atb|bls|απ|σχετ|ответ|отв|답장|回复|答复|回覆|返信)\s{0,3}(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s{0,3}[:：]/iu
const FORWARD =
  /^\s{0,9}(?:fwd?|wg|tr|vl|vb|enc|i|rv|doorst|pd|vs|ilt|fs|továbbítás|προωθ|перес|전달|转发|轉寄|轉發|転送)\s{0,3}(?:\[\d{1,4}\]|\(\d{1,4}\))?\s{0,3}[:：]/iu
/** A subject has as many prefixes as it has passed programs that do not know each other's. */
const PREFIXES_MAX = 20

const fitted = (subject: string): string => subject.slice(0, SUBJECT_LIMIT).toWellFormed()

export const isReplySubject = (subject: string): boolean => REPLY.test(subject)

/** Returns the subject of a reply: with one prefix, in whichever language it is. */
export const replySubject = (subject: string): string =>
  fitted(isReplySubject(subject) ? subject.trim() : `Re: ${subject.trim()}`.trimEnd())

/** Returns the subject of a forwarded message, with one prefix of its kind. */
export const forwardSubject = (subject: string): string =>
  fitted(FORWARD.test(subject) ? subject.trim() : `Fwd: ${subject.trim()}`.trimEnd())

/** Returns a subject without the prefixes of replies, on one line and in lower case, for comparisons. */
export const baseSubject = (subject: string): string => {
  let rest = subject
  for (let count = 0; count < PREFIXES_MAX && REPLY.test(rest); count++) rest = rest.replace(REPLY, "")
  return rest.replaceAll(/\s+/g, " ").trim().toLowerCase()
}
