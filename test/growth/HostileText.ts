/** Makes a text of about this size. */
export type Shape = readonly [name: string, make: (size: number) => string]

const repeated = (part: string): Shape => [
  `repeated ${JSON.stringify(part)}`,
  (size) => part.repeat(Math.ceil(size / part.length))
]

/** A beginning, a part repeated to the size, and an end that makes the whole fail to match. */
const led = (lead: string, part: string, end = ""): Shape => [
  `${JSON.stringify(lead)} and repeated ${JSON.stringify(part)}${end === "" ? "" : ` and ${JSON.stringify(end)}`}`,
  (size) => lead + part.repeat(Math.ceil((size - lead.length - end.length) / part.length)) + end
]

/** Half of one part, then half of another. */
const halves = (first: string, second: string): Shape => [
  `half ${JSON.stringify(first)}, half ${JSON.stringify(second)}`,
  (size) => first.repeat(Math.ceil(size / 2 / first.length)) + second.repeat(Math.ceil(size / 2 / second.length))
]

export const hostileHtml: ReadonlyArray<Shape> = [
  ...[
    "<",
    "<a",
    "<b>",
    "</b>",
    "<b><p>",
    "<table>",
    "<blockquote>",
    "<!--",
    "<style>",
    "<style x",
    "</style",
    "<title>",
    "<body",
    "&",
    "&a"
  ].map(repeated),
  ...["<li>", "<br>", '<a href="', "<a href=https:x>", "<img alt=a>", "a ", "\n", "\u00a0", "<pre>\n"].map(repeated),
  led("<a", "a"),
  led("<a ", "b=c "),
  led('<a href="', "a"),
  led("<script>", "</scr"),
  led("<a href=https:x>", "a "),
  led("&#", "1"),
  halves("<b>", "</i>"),
  halves("<blockquote>", "</blockquote>")
]

export const hostileText: ReadonlyArray<Shape> = [
  ...[
    " ",
    "\t",
    "\n",
    "\r\n",
    ">",
    "> ",
    ">\n",
    "a",
    "a\n",
    "a ",
    "A",
    "A1",
    "1",
    "12 ",
    "-",
    "_\n",
    "(",
    ")",
    '"'
  ].map(repeated),
  ...["=?", "=?utf-8?q?a?= ", "\\", ",", ";", "a;", "@", "<a@", "a@b.example,", "\u0000", "\u001b[", "\ud800"].map(
    repeated
  ),
  ...[
    "code ",
    "code 1234 ",
    "1234 code\n",
    "On a b\n",
    "On a b wrote:\n",
    "Op schreef ",
    "From: a <",
    "\u3000",
    "\u0301\u0327"
  ].map(repeated),
  led("a", " ", "b"),
  led("", ">", "a"),
  led("On ", "a ", "\n"),
  led("Op ", "schreef ", "x"),
  led("\u5728", "a\n"),
  led('"', "\\"),
  led("=?utf-8?q?", "="),
  halves("(", ")"),
  halves("1234 ", "code "),
  halves("code ", "1234x ")
]

/** Those for header fields, whose grammar has comments, quotes, encoded words, addresses and parameters. */
export const hostileFields: ReadonlyArray<Shape> = [
  ...[" ", "(", "()", ".", '"', "=?", "=?utf-8?q?a?= ", "\\", "a=b; ", "<a@", "a@b.example, ", "a"].map(repeated),
  led('"', "\\"),
  led("a=", "a"),
  halves("(", ")")
]
