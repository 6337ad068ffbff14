/** A labeled text of a mail. */
export interface LabeledReply {
  readonly name: string
  readonly text: string
  /** The words of the author, line by line. Empty lines do not count. */
  readonly own: string
  /** Lines that are neither the author's words nor a quotation: signatures of programs, separators. */
  readonly neutral?: string
  /** The kind that the header of the mail states; a reply by default. */
  readonly kind?: { readonly isReply: boolean; readonly isForward: boolean }
  /** Whether answers are inside a quotation that has no marks, so that it cannot be removed for certain. */
  readonly isUnmarkedInline?: boolean
}
