import { appendFileSync, renameSync, statSync } from "node:fs"
import { basename } from "node:path"

/** The log of one child. It never grows past twice `bytesMax`: what is older than the last file but one is lost. */
export interface LogFile {
  readonly path: string
  readonly write: (text: string | Uint8Array) => void
  /** The last lines of this run. */
  readonly tail: () => string
}

const bytesMax = 8 * 1_024 * 1_024
const tailCharactersMax = 4_000
const tailLinesMax = 20

/** Begins a log anew; the one before it stays as `.1`. */
export const openLog = (path: string): LogFile => {
  let size = sizeOf(path)
  let last = ""
  const rotate = () => {
    if (size > 0) renameSync(path, `${path}.1`)
    size = 0
  }
  rotate()
  return {
    path,
    write: (text) => {
      if (size > bytesMax) rotate()
      size += text.length
      last = (last + (typeof text === "string" ? text : Buffer.from(text).toString())).slice(-tailCharactersMax)
      try {
        appendFileSync(path, text, { mode: 0o600 })
      } catch (error) {
        // A full disk, or a directory that was removed, is no reason to end what runs.
        last = `${last}\n${basename(path)} can't be written: ${String(error)}\n`
      }
    },
    tail: () => last.trimEnd().split("\n").slice(-tailLinesMax).join("\n")
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
