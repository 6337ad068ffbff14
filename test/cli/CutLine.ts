import { startForwarder } from "../support/Forwarder.ts"

/** A line to a server that can be cut. */
export interface CutLine {
  readonly url: string
  /** Where it leads to. */
  readonly leadTo: (url: string) => void
  /** Breaks off every connection, and lets none through until it is mended. */
  readonly cut: () => void
  readonly mend: () => void
  readonly stop: () => Promise<void>
}

/** Listens on a free port of this machine, and leads nowhere yet. */
export const startCutLine = async (): Promise<CutLine> => {
  let port: number | undefined
  let isCut = false
  const { cut, stop, url } = await startForwarder(() => (isCut ? undefined : port))
  return {
    url,
    leadTo: (to) => (port = Number(new URL(to).port)),
    cut: () => {
      isCut = true
      cut()
    },
    mend: () => (isCut = false),
    stop
  }
}
