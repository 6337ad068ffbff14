import { type AgentReply, AgentReplyRecord } from "@agentos/core"
import { Option, Schema } from "effect"

/** An answer in the wrong format. `message` is a clause about the answer. */
export class BadAnswer extends Error {
  override readonly name = "BadAnswer"
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(AgentReplyRecord))

/** Returns undefined unless the text is a JSON object with a text, digits or a hangup of the right type. */
const partsOf = (json: string): ReadonlyArray<AgentReply> | undefined => {
  const part = decode(json)
  if (Option.isNone(part)) return undefined
  const { digits, hangup, silenceSeconds, text } = part.value
  if (digits === undefined && hangup === undefined && silenceSeconds === undefined && text === undefined)
    return undefined
  return [
    ...(text === undefined || text === "" ? [] : [{ _tag: "Say", text } as const]),
    ...(digits === undefined ? [] : [{ _tag: "Press", digits } as const]),
    ...(silenceSeconds === undefined ? [] : [{ _tag: "AwaitSpeech", seconds: silenceSeconds } as const]),
    ...(hangup === true ? [{ _tag: "HangUp" } as const] : [])
  ]
}

const isLinesType = (contentType: string | undefined): boolean =>
  /^\s*(?:application|text)\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)\b/i.test(contentType ?? "")

/** Reads an answer incrementally. Each method returns the replies that it completes, or throws `BadAnswer`. */
export interface AnswerReader {
  readonly take: (bytes: Uint8Array) => ReadonlyArray<AgentReply>
  readonly end: () => ReadonlyArray<AgentReply>
}

/**
 * Reads one object per line, each as soon as it arrives, if the content type declares lines or the first line is such
 * an object. Otherwise the whole answer is one object over any number of lines. Blank lines are ignored.
 */
export const makeAnswerReader = (contentType: string | undefined, bytesMax: number): AnswerReader => {
  const utf8 = new TextDecoder("utf-8", { fatal: true })
  let byLine: boolean | undefined = isLinesType(contentType) ? true : undefined
  /** The pieces of the unfinished line, or of the whole answer if it is one object. No piece is searched twice. */
  let pending: Array<string> = []
  let bytesTaken = 0

  const text = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? utf8.decode() : utf8.decode(bytes, { stream: true })
    } catch (cause) {
      throw new BadAnswer("is not UTF-8", { cause })
    }
  }
  const wanted = (json: string): ReadonlyArray<AgentReply> => {
    const parts = partsOf(json)
    if (parts === undefined)
      throw new BadAnswer('is neither {"text": …}, {"digits": "12#"} nor {"hangup": true}, nor lines of these')
    return parts
  }
  const ofLine = (line: string): ReadonlyArray<AgentReply> => {
    if (line.trim() === "") return []
    if (byLine === true) return wanted(line)
    const first = partsOf(line)
    byLine = first !== undefined
    if (first === undefined) pending.push(line, "\n")
    return first ?? []
  }

  return {
    take: (bytes) => {
      bytesTaken += bytes.length
      if (bytesTaken > bytesMax) throw new BadAnswer(`is longer than ${bytesMax} bytes`)
      const piece = text(bytes)
      const replies: Array<AgentReply> = []
      let start = 0
      for (let end = piece.indexOf("\n"); end !== -1 && byLine !== false; end = piece.indexOf("\n", start)) {
        const line = pending.join("") + piece.slice(start, end)
        pending = []
        start = end + 1
        for (const reply of ofLine(line)) replies.push(reply)
      }
      if (start < piece.length) pending.push(piece.slice(start))
      return replies
    },
    end: () => {
      const rest = pending.join("") + text()
      return rest.trim() === "" ? [] : wanted(rest)
    }
  }
}
