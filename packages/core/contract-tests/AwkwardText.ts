/**
 * Texts that adapters often handle wrongly: quotes, patterns, escapes, line ends, characters outside the basic
 * plane.
 */
export const AWKWARD_TEXTS: ReadonlyArray<string> = [
  "",
  " leading and trailing ",
  'O\'Brien "said" `it`',
  "back\\slash \\n \\u0041 \\",
  "100% _like_ %s $1 ${x} ?",
  "'; DROP TABLE events; --",
  '{"json":[1,null]}',
  '{a,b,NULL,"c"}',
  "tab\tline\nfeed\r\nreturn\u0007bell\u001b",
  "ünïcödé 漢字 עברית العربية",
  "👩‍👩‍👧‍👦 \u{1F4EE} e\u0301 \uFEFF\u200D\u202E",
  "null",
  "x".repeat(200_000)
]
