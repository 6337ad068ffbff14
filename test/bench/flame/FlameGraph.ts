import type { Profiler } from "node:inspector"

/** A function with the time that it and all that it called took, in microseconds. */
interface Frame {
  readonly label: string
  readonly kind: string
  micros: number
  readonly callees: Map<string, Frame>
}

const WIDTH = 1_200
const ROW = 17
const FONT = 11
/** Frames that are narrower are left out, and with them everything that they called. */
const WIDTH_MIN = 2
const CHARACTER = 6.2
const HEADER = 44

/** Fill colors by the origin of the code. They contrast with black text. */
const COLORS: Readonly<Record<string, string>> = {
  "this project": "#f6b26b",
  Effect: "#a4c2f4",
  "other libraries": "#b6d7a8",
  Node: "#d9d2e9",
  "native code and system calls": "#dddddd"
}

const kindOf = (url: string): string => {
  if (url.startsWith("node:")) return "Node"
  if (url === "") return "native code and system calls"
  if (/node_modules\/(?:@effect\/[\w-]+|effect)\//.test(url)) return "Effect"
  return url.includes("node_modules/") ? "other libraries" : "this project"
}

/** Returns the package and the module of a URL, without a path of this machine. */
const placeOf = (url: string): string => {
  const parts = url.split("node_modules/").at(-1)!
  const own = /packages\/([\w-]+)\/src\/(.*)$/.exec(url)
  return own === null ? parts.replace(/^file:\/\/.*\//, "") : `${own[1]}/${own[2]}`
}

const labelOf = ({ functionName, url }: Profiler.ProfileNode["callFrame"]): string => {
  const name = functionName === "" ? "(anonymous)" : functionName
  return url === "" ? name : `${name} ${placeOf(url)}`
}

const frame = (label: string, kind: string): Frame => ({ label, kind, micros: 0, callees: new Map() })

/** Adds up the samples of equal stacks. The time in which the process waited is left out. */
const addUp = ({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const callers = new Map(nodes.flatMap(({ children = [], id }) => children.map((child) => [child, id] as const)))
  const selfMicros = new Map<number, number>()
  for (const [place, id] of samples.entries())
    selfMicros.set(id, (selfMicros.get(id) ?? 0) + Math.max(0, timeDeltas[place] ?? 0))
  const root = frame("all", "native code and system calls")
  for (const [id, micros] of selfMicros) {
    const stack: Array<Profiler.ProfileNode["callFrame"]> = []
    for (let at: number | undefined = id; at !== undefined; at = callers.get(at)) stack.unshift(byId.get(at)!.callFrame)
    if (stack.at(-1)?.functionName === "(idle)") continue
    let current = root
    current.micros += micros
    // The first frame is the root of the profile.
    for (const callFrame of stack.slice(1)) {
      const label = labelOf(callFrame)
      const callee: Frame = current.callees.get(label) ?? frame(label, kindOf(callFrame.url))
      current.callees.set(label, callee)
      callee.micros += micros
      current = callee
    }
  }
  return root
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

interface Box {
  readonly frame: Frame
  readonly x: number
  readonly depth: number
  readonly width: number
}

const boxesOf = (root: Frame): ReadonlyArray<Box> => {
  const boxes: Array<Box> = []
  const place = (of: Frame, x: number, depth: number) => {
    const width = (of.micros / root.micros) * WIDTH
    if (!(width >= WIDTH_MIN)) return
    boxes.push({ frame: of, x, depth, width })
    let next = x
    for (const callee of [...of.callees.values()].toSorted((a, b) => b.micros - a.micros)) {
      place(callee, next, depth + 1)
      next += (callee.micros / root.micros) * WIDTH
    }
  }
  place(root, 0, 0)
  return boxes
}

const round = (value: number): string => value.toFixed(1).replace(/\.0$/, "")

/**
 * Draws a processor profile as SVG: each box is a function, as wide as its share of the processor time, above the function
 * that called it. Boxes of one caller are sorted by width. The tooltip of a box has its name and share.
 */
export const flameGraph = (profile: Profiler.Profile, title: string): string => {
  const root = addUp(profile)
  const boxes = boxesOf(root)
  const height = HEADER + (1 + Math.max(0, ...boxes.map(({ depth }) => depth))) * ROW
  const drawn = boxes.map(({ depth, frame: { kind, label, micros }, width, x }) => {
    const y = height - (depth + 1) * ROW
    const share = ((100 * micros) / root.micros).toFixed(1)
    const shown = Math.floor((width - 4) / CHARACTER)
    const text =
      shown < 4
        ? ""
        : `<text x="${round(x + 3)}" y="${y + 12}">${escaped(label.length > shown ? `${label.slice(0, shown - 1)}…` : label)}</text>`
    return `<g><title>${escaped(label)}: ${share} %</title><rect x="${round(x)}" y="${y}" width="${round(width - 0.5)}" height="${ROW - 1}" fill="${COLORS[kind]}"/>${text}</g>`
  })
  const legend = Object.entries(COLORS).map(
    ([kind, color], place) =>
      `<rect x="${place * 200}" y="24" width="12" height="12" fill="${color}"/><text x="${place * 200 + 16}" y="34">${kind}</text>`
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="${FONT}">`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="0" y="14" font-size="14">${escaped(title)}</text>`,
    ...legend,
    ...drawn,
    "</svg>",
    ""
  ].join("\n")
}
