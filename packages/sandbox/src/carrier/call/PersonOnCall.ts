import type { CallClock } from "../CallClock.ts"
import { interruptibleOf, type Interruptible } from "../twiml/Twiml.ts"
import type { Line, Part } from "./Person.ts"

/** Through which a person is heard. */
export interface Mouth {
  readonly say: (text: string) => void
  readonly press: (keys: string) => void
  /** The person came in when so much had been heard. */
  readonly interrupt: (heard: string, millis: number) => void
}

/** What a call learns of its person. */
export interface Listener {
  /** Something was heard or said. */
  readonly noted: (heard: ReadonlyArray<string>, said: ReadonlyArray<string>) => void
  /** The person hangs up; the moment is of the calls' clock. */
  readonly hungUp: (at: number) => void
}

/**
 * How fast speech is: it only says how much was heard when somebody comes in, and is the rate of the example in
 * https://www.twilio.com/docs/voice/conversationrelay/websocket-messages (24 characters in 460 ms). Nothing waits for
 * speech to end: a text has been heard when its last token is there.
 */
const charactersPerSecond = 50
const interruptMillisDefault = 300
const patienceSecondsDefault = 3
/** While a person speaks they hear nothing: what is under way to them then is lost. Not of the calls' clock. */
const talkMillis = 50

interface Speech {
  text: string
  readonly startedAt: number
  readonly interruptible: Interruptible
  isOver: boolean
}

/**
 * A person in a call. Lines are said one after another: each after the agent has finished a thing, or into it. The
 * person hangs up after their seconds, or else once the last line was answered (with no lines, once one thing was
 * heard).
 */
export class PersonOnCall {
  readonly #part: Part
  readonly #clock: CallClock
  readonly #listener: Listener
  readonly #heard: Array<string> = []
  readonly #said: Array<string> = []
  #nextLine = 0
  #unanswered: Line | undefined
  #mouth: Mouth | undefined
  #speech: Speech | undefined
  #isTalking = false
  #isSilent = false
  /** Calls off what the person was about to do. */
  #plan: (() => void) | undefined
  #isInterrupting = false
  readonly #ends: Array<() => void> = []

  constructor(part: Part, clock: CallClock, listener: Listener) {
    this.#part = part
    this.#clock = clock
    this.#listener = listener
  }

  /** The call is answered at this moment of the calls' clock. */
  connected(moment: number): void {
    const { seconds } = this.#part
    if (seconds === undefined) return
    this.#ends.push(this.#clock.at(moment + seconds * 1_000, (at) => this.#listener.hungUp(at)))
  }

  /** Someone listens, at first or again. */
  attach(mouth: Mouth): void {
    this.#mouth = mouth
    this.#planAfter(this.#part.patienceSeconds ?? patienceSecondsDefault, () => this.#breakSilence())
  }

  /** Nobody listens any more. */
  detach(): void {
    this.#mouth = undefined
    this.#callOff()
    if (this.#speech !== undefined) this.#speech.isOver = true
  }

  /** The call is over. */
  leave(): void {
    this.detach()
    for (const end of this.#ends) end()
  }

  /** Something that needs no answer was said. */
  overhear(text: string): void {
    this.#heard.push(text)
    this.#note()
  }

  /** A piece of what the agent says; the last one ends the thing. */
  hear(piece: string, isLast: boolean, interruptible: Interruptible): void {
    if (this.#isTalking) return
    if (this.#speech === undefined || this.#speech.isOver) {
      if (piece === "") return
      this.#callOff()
      this.#speech = { text: "", startedAt: this.#clock.now(), interruptible, isOver: false }
      this.#heard.push("")
      this.#planInterruption()
    }
    this.#speech.text += piece
    this.#heard[this.#heard.length - 1] = this.#speech.text
    this.#note()
    if (!isLast) return
    this.#speech.isOver = true
    if (!this.#isInterrupting) this.#takeTurn()
  }

  get #line(): Line | undefined {
    return this.#part.lines[this.#nextLine]
  }

  #note(): void {
    this.#listener.noted([...this.#heard], [...this.#said])
  }

  #planAfter(seconds: number, action: (at: number) => void): void {
    this.#callOff()
    this.#plan = this.#clock.after(seconds, (at) => {
      this.#plan = undefined
      action(at)
    })
  }

  #callOff(): void {
    this.#plan?.()
    this.#plan = undefined
    this.#isInterrupting = false
  }

  /** The agent has finished. */
  #takeTurn(): void {
    this.#unanswered = undefined
    if (this.#isSilent) return
    const line = this.#line
    if (line === undefined) {
      if (this.#part.seconds === undefined) this.#listener.hungUp(this.#clock.now())
      return
    }
    const { afterMillis, interrupt } = timingOf(line)
    if (afterMillis === undefined || interrupt) return this.#sayNext(line)
    this.#planAfter(afterMillis / 1_000, () => this.#sayNext(line))
  }

  #planInterruption(): void {
    const line = this.#line
    if (line === undefined || this.#isSilent) return
    const { afterMillis, interrupt } = timingOf(line)
    if (!interrupt) return
    const millis = afterMillis ?? this.#part.interruptAfterMillis ?? interruptMillisDefault
    this.#planAfter(millis / 1_000, (at) => this.#interrupt(line, at))
    this.#isInterrupting = true
  }

  #interrupt(line: Line, at: number): void {
    this.#isInterrupting = false
    const speech = this.#speech
    if (speech === undefined) return
    const isHangup = typeof line !== "string" && "hangup" in line
    if (!isHangup && !stops(line, speech.interruptible)) {
      // Nobody hears it; it is said when the agent has finished.
      if (speech.isOver) this.#takeTurn()
      return
    }
    const millis = Math.round(at - speech.startedAt)
    const heard = heardOf(speech.text, millis)
    speech.isOver = true
    this.#heard[this.#heard.length - 1] = heard
    this.#note()
    if (isHangup) return this.#listener.hungUp(at)
    this.#mouth?.interrupt(heard, millis)
    this.#isTalking = true
    const spoken = setTimeout(() => {
      this.#isTalking = false
      this.#sayNext(line)
    }, talkMillis)
    this.#ends.push(() => clearTimeout(spoken))
  }

  #sayNext(line: Line): void {
    this.#nextLine += 1
    this.#say(line)
  }

  #say(line: Line): void {
    if (typeof line !== "string" && "hangup" in line) return this.#listener.hungUp(this.#clock.now())
    if (typeof line !== "string" && "silence" in line) {
      this.#isSilent = true
      const callOff = this.#clock.after(line.silence, () => {
        this.#isSilent = false
        this.#takeTurn()
      })
      this.#ends.push(callOff)
      return
    }
    this.#unanswered = line
    const text = typeof line === "string" ? line : "text" in line ? line.text : line.dtmf
    this.#said.push(text)
    this.#note()
    if (typeof line !== "string" && "dtmf" in line) this.#mouth?.press(text)
    else this.#mouth?.say(text)
  }

  /** Nothing was heard for as long as the person has patience. */
  #breakSilence(): void {
    const line = this.#line
    if (this.#isSilent) return
    if (this.#unanswered !== undefined) this.#say(this.#unanswered)
    else if (line !== undefined) this.#sayNext(line)
  }
}

const timingOf = (line: Line): { readonly interrupt?: boolean; readonly afterMillis?: number } =>
  typeof line === "string" || "silence" in line ? {} : line

const stops = (line: Line, interruptible: Interruptible): boolean => {
  const kind = typeof line !== "string" && "dtmf" in line ? "dtmf" : "speech"
  const means = interruptibleOf(interruptible)
  return means === "any" || means === kind
}

/** What of a text was heard after so long: whole words, and never all of it. */
const heardOf = (text: string, millis: number): string => {
  const heard = text.slice(0, Math.floor((millis * charactersPerSecond) / 1_000))
  const isWhole = heard.length < text.length && /\s/.test(text[heard.length] ?? "")
  return isWhole ? heard.trimEnd() : heard.replace(/\S*$/, "").trimEnd()
}
