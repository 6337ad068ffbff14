/** A recording of a terminal in the format asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/). */
export interface Cast {
  readonly title: string
  /** Columns and rows. */
  readonly width: number
  readonly height: number
  readonly outputs: ReadonlyArray<Output>
}

/** A text that the terminal received, and its time in seconds from the start. */
export interface Output {
  readonly atSeconds: number
  readonly text: string
}

export const toFile = ({ height, outputs, title, width }: Cast): string =>
  [
    { version: 2, width, height, title },
    ...outputs.map(({ atSeconds, text }) => [Number(atSeconds.toFixed(3)), "o", text])
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("")

const FONT_SIZE = 13
const COLUMN = 7.85
const ROW = 18
const PADDING = 16
const TITLE_BAR = 28
/** Time for which the last screen is shown before the recording starts again. */
const REST_SECONDS = 8

/** A row of the screen, and when it is complete. */
interface Row {
  readonly text: string
  readonly atSeconds: number
}

/** Breaks each line at the width of the terminal, as a terminal does. */
const rowsOf = ({ outputs, width }: Cast): ReadonlyArray<Row> => {
  const rows: Array<Row> = []
  let line = ""
  const write = (text: string, atSeconds: number) => {
    const characters = [...text]
    do rows.push({ text: characters.splice(0, width).join(""), atSeconds })
    while (characters.length > 0)
  }
  for (const { atSeconds, text } of outputs) {
    const [first = "", ...others] = text.split("\r\n")
    line += first
    for (const next of others) {
      write(line, atSeconds)
      line = next
    }
  }
  if (line !== "") write(line, outputs.at(-1)!.atSeconds)
  const controlled = rows.find(({ text }) => /[\u0000-\u001f\u007f]/.test(text))
  if (controlled !== undefined)
    throw new Error(`a row contains a control character: ${JSON.stringify(controlled.text)}`)
  return rows
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/**
 * Draws a recording as an animated SVG of a screen on which every row stays. It throws if the rows do not fit, or contain
 * control characters. Where animations are reduced, it shows the last screen.
 */
export const toSvg = (cast: Cast): string => {
  const rows = rowsOf(cast)
  if (rows.length > cast.height) throw new Error(`the recording has ${rows.length} rows, and the screen ${cast.height}`)
  const duration = (rows.at(-1)?.atSeconds ?? 0) + REST_SECONDS
  const [width, height] = [
    Math.ceil(cast.width * COLUMN + 2 * PADDING),
    TITLE_BAR + cast.height * ROW + 2 * PADDING - ROW / 2
  ]
  const moments = [...new Set(rows.map(({ atSeconds }) => atSeconds))]
  const appearing = moments.map(
    (at, index) =>
      `@keyframes a${index}{0%{opacity:0}${((100 * at) / duration).toFixed(2)}%{opacity:1}}.a${index}{animation-name:a${index}}`
  )
  const texts = rows.map(
    ({ atSeconds, text }, index) =>
      `<text class="a${moments.indexOf(atSeconds)}" y="${TITLE_BAR + PADDING + index * ROW + FONT_SIZE - 3}">${escapeXml(text)}</text>`
  )
  const screen = rows.map(({ text }) => text).join("\n")
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(cast.title)}</title>
<desc>${escapeXml(screen)}</desc>
<style>
text{font:${FONT_SIZE}px/1 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}
.rows text{animation:${duration.toFixed(2)}s step-end infinite}
${appearing.join("\n")}
@media (prefers-reduced-motion:reduce){.rows text{animation:none}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g fill="#30363d"><circle cx="20" cy="16" r="5"/><circle cx="38" cy="16" r="5"/><circle cx="56" cy="16" r="5"/></g>
<svg x="${PADDING}" overflow="visible"><g class="rows">
${texts.join("\n")}
</g></svg>
</svg>
`
}
