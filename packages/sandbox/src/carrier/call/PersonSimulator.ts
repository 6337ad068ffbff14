import type { CallClock } from "../CallClock.ts"
import type { CallScript, Line } from "./Person.ts"
import { type Interruptible, toInterruptible } from "./Twiml.ts"

/** Receives the person's speech and keys. */
export interface PersonOutput {
  readonly say: (text: string) => void
  readonly press: (keys: string) => void
  /** The person interrupted the agent after hearing `heard` for `millis`. */
  readonly interrupt: (heard: string, millis: number) => void
}

export interface PersonEvents {
  /** The texts heard or said have changed. */
  readonly onSpeech: (heard: ReadonlyArray<string>, said: ReadonlyArray<string>) => void
  /** The person hangs up at this time on the calls' clock. */
  readonly onHangup: (at: number) => void
}

/**
 * Determines how much of a text was heard before an interruption. The rate is that of the example in
 * https://www.twilio.com/docs/voice/conversationrelay/websocket-messages (24 characters in 460 ms). Nothing else waits for
 * speech: a text has been heard when its last token arrives.
 */
const charactersPerSecond = 50
const interruptMillisDefault = 300
const patienceSecondsDefault = 3
/** While a person speaks, they hear nothing: text in transit is lost. In real time. */
const speakingMillis = 50

interface AgentSpeech {
  text: string
  readonly startedAt: number
  readonly interruptible: Interruptible
  isEnded: boolean
}

/**
 * Simulates a person in a call. The person says the lines of the script in order, each after the agent has finished
 * speaking or as an interruption. The person hangs up after `seconds`, or after the response to the last line, or without
 * lines after one utterance.
 */
export class PersonSimulator {
  readonly #script: CallScript
  readonly #clock: CallClock
  readonly #events: PersonEvents
  readonly #heard: Array<string> = []
  readonly #said: Array<string> = []
  #nextLine = 0
  #unanswered: Line | undefined
  #output: PersonOutput | undefined
  #speech: AgentSpeech | undefined
  #isSpeaking = false
  #isSilent = false
  /** Cancels the person's next action. */
  #cancelAction: (() => void) | undefined
  #isInterrupting = false
  readonly #cleanups: Array<() => void> = []

  constructor(script: CallScript, clock: CallClock, events: PersonEvents) {
    this.#script = script
    this.#clock = clock
    this.#events = events
  }

  /** The call was answered at this time on the calls' clock. */
  connected(at: number): void {
    const { seconds } = this.#script
    if (seconds === undefined) return
    this.#cleanups.push(this.#clock.at(at + seconds * 1_000, (due) => this.#events.onHangup(due)))
  }

  /** Connects the agent, for the first time or again. */
  attach(output: PersonOutput): void {
    this.#output = output
    this.#schedule(this.#script.patienceSeconds ?? patienceSecondsDefault, () => this.#breakSilence())
  }

  /** Disconnects the agent. */
  detach(): void {
    this.#output = undefined
    this.#cancel()
    if (this.#speech !== undefined) this.#speech.isEnded = true
  }

  end(): void {
    this.detach()
    for (const cleanup of this.#cleanups) cleanup()
  }

  /** Adds a text that needs no response. */
  hearAnnouncement(text: string): void {
    this.#heard.push(text)
    this.#notify()
  }

  /** Receives a token of the agent's speech. The last token ends the utterance. */
  hear(token: string, isLast: boolean, interruptible: Interruptible): void {
    if (this.#isSpeaking) return
    if (this.#speech === undefined || this.#speech.isEnded) {
      if (token === "") return
      this.#cancel()
      this.#speech = { text: "", startedAt: this.#clock.now(), interruptible, isEnded: false }
      this.#heard.push("")
      this.#scheduleInterruption()
    }
    this.#speech.text += token
    this.#heard[this.#heard.length - 1] = this.#speech.text
    this.#notify()
    if (!isLast) return
    this.#speech.isEnded = true
    if (!this.#isInterrupting) this.#takeTurn()
  }

  get #line(): Line | undefined {
    return this.#script.lines[this.#nextLine]
  }

  #notify(): void {
    this.#events.onSpeech([...this.#heard], [...this.#said])
  }

  #schedule(seconds: number, action: (at: number) => void): void {
    this.#cancel()
    this.#cancelAction = this.#clock.after(seconds, (at) => {
      this.#cancelAction = undefined
      action(at)
    })
  }

  #cancel(): void {
    this.#cancelAction?.()
    this.#cancelAction = undefined
    this.#isInterrupting = false
  }

  /** The agent has finished speaking. */
  #takeTurn(): void {
    this.#unanswered = undefined
    if (this.#isSilent) return
    const line = this.#line
    if (line === undefined) {
      if (this.#script.seconds === undefined) this.#events.onHangup(this.#clock.now())
      return
    }
    const { afterMillis, interrupt } = timingOf(line)
    if (afterMillis === undefined || interrupt) return this.#sayNext(line)
    this.#schedule(afterMillis / 1_000, () => this.#sayNext(line))
  }

  #scheduleInterruption(): void {
    const line = this.#line
    if (line === undefined || this.#isSilent) return
    const { afterMillis, interrupt } = timingOf(line)
    if (!interrupt) return
    const millis = afterMillis ?? this.#script.interruptAfterMillis ?? interruptMillisDefault
    this.#schedule(millis / 1_000, (at) => this.#interrupt(line, at))
    this.#isInterrupting = true
  }

  #interrupt(line: Line, at: number): void {
    this.#isInterrupting = false
    const speech = this.#speech
    if (speech === undefined) return
    const isHangup = typeof line !== "string" && "hangup" in line
    if (!isHangup && !canInterrupt(line, speech.interruptible)) {
      // The line has no effect now. The person says it when the agent has finished.
      if (speech.isEnded) this.#takeTurn()
      return
    }
    const millis = Math.round(at - speech.startedAt)
    const heard = heardWithin(speech.text, millis)
    speech.isEnded = true
    this.#heard[this.#heard.length - 1] = heard
    this.#notify()
    if (isHangup) return this.#events.onHangup(at)
    this.#output?.interrupt(heard, millis)
    this.#isSpeaking = true
    const timer = setTimeout(() => {
      this.#isSpeaking = false
      this.#sayNext(line)
    }, speakingMillis)
    this.#cleanups.push(() => clearTimeout(timer))
  }

  #sayNext(line: Line): void {
    this.#nextLine += 1
    this.#say(line)
  }

  #say(line: Line): void {
    if (typeof line !== "string" && "hangup" in line) return this.#events.onHangup(this.#clock.now())
    if (typeof line !== "string" && "silence" in line) {
      this.#isSilent = true
      const cancel = this.#clock.after(line.silence, () => {
        this.#isSilent = false
        this.#takeTurn()
      })
      this.#cleanups.push(cancel)
      return
    }
    this.#unanswered = line
    const text = typeof line === "string" ? line : "text" in line ? line.text : line.dtmf
    this.#said.push(text)
    this.#notify()
    if (typeof line !== "string" && "dtmf" in line) this.#output?.press(text)
    else this.#output?.say(text)
  }

  /** The person has heard nothing for `patienceSeconds`. */
  #breakSilence(): void {
    const line = this.#line
    if (this.#isSilent) return
    if (this.#unanswered !== undefined) this.#say(this.#unanswered)
    else if (line !== undefined) this.#sayNext(line)
  }
}

const timingOf = (line: Line): { readonly interrupt?: boolean; readonly afterMillis?: number } =>
  typeof line === "string" || "silence" in line ? {} : line

const canInterrupt = (line: Line, interruptible: Interruptible): boolean => {
  const kind = typeof line !== "string" && "dtmf" in line ? "dtmf" : "speech"
  const by = toInterruptible(interruptible)
  return by === "any" || by === kind
}

/** A character of a script without spaces is a word. */
const partOfWord = String.raw`[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]`
const startsWithin = new RegExp(`^${partOfWord}`, "u")
const endsWithin = new RegExp(`${partOfWord}+$`, "u")

/** Returns the part of a text that was heard within the time: whole words, and never the whole text. */
const heardWithin = (text: string, millis: number): string => {
  const length = Math.min(Math.floor((millis * charactersPerSecond) / 1_000), text.length - 1)
  const heard = text.slice(0, length).toWellFormed()
  const endsWithWord = !startsWithin.test(text.slice(length))
  return (endsWithWord ? heard : heard.replace(endsWithin, "")).trimEnd()
}
