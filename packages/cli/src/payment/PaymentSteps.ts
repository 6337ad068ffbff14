/** The moments of a payment at which a process that dies leaves something different behind. */
export type PaymentStep =
  /** Agreed to, and not signed. */
  | "agreed"
  /** Signed and on disk as prepared; not a byte was sent. */
  | "written"
  /** On disk as sent, and about to be. */
  | "sending"
  /** Answered; the answer is nowhere but in memory. */
  | "answered"
  /** The answer's token is saved; the journal does not know of the answer yet. */
  | "kept"
  /** On disk as answered; nothing is printed yet. */
  | "closed"
