/** A mail in the form of a real service's, with new wording, and its correct code and link. */
export interface LabeledMail {
  readonly language: string
  /** The service or the situation whose form it has. */
  readonly form: string
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  readonly code: string | null
  readonly link: string | null
}

type Right = readonly [code?: string | null, link?: string | null]

/** Makes a mail with a text; one that begins with `<` is HTML without a text part. */
export const mail = (
  language: string,
  form: string,
  subject: string,
  body: string,
  ...[code = null, link = null]: Right
): LabeledMail => {
  const isHtml = body.startsWith("<")
  return { language, form, subject, text: isHtml ? null : body, html: isHtml ? body : null, code, link }
}

/** Makes a mail with a text and HTML. */
export const both = (
  language: string,
  form: string,
  subject: string,
  [text, html]: readonly [text: string, html: string],
  ...[code = null, link = null]: Right
): LabeledMail => ({ language, form, subject, text, html, code, link })
