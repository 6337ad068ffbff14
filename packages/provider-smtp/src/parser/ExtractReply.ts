import EmailReplyParser from "email-reply-parser"

/** Longer texts are not searched for quotes. Replies are a hundredth of it. */
const TEXT_CHARACTERS = 128 * 1024

/**
 * Returns the part of a text that its author wrote, without quotes and signature; null if nothing is left, or if the
 * text is too long. The expressions of the parser can take very long, so it must run where it can be killed.
 */
export const extractReply = (text: string | null): string | null => {
  if (text === null || text.length > TEXT_CHARACTERS) return null
  return new EmailReplyParser().parseReply(text).trim() || null
}
