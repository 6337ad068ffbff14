import { AgentUnreachable, Timestamp, type Turn } from "@agentos/core"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as VoiceSession from "../../src/phone/VoiceSession.ts"

const START = 1_000_000
const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const error = new AgentUnreachable({ reason: "timeout", message: "The agent did not answer." })

/** A word of the caller or the agent; some are empty, and the last one can't be stored as it is. */
const Text = Schema.Literals(["Hello.", " there", "How are you?", "42", "a  b", "", " ", "\u0000\ud83d"])
const Action = Schema.Union([
  Schema.TaggedStruct("Said", { text: Text }),
  Schema.TaggedStruct("Pressed", { key: Schema.Literals(["1", "9", "*", "a", "#", "no key"]) }),
  /** Interrupts after this part of the last speech, in percent; the relay may report other words. */
  Schema.TaggedStruct("Interrupted", { percent: between(0, 100), words: Schema.NullOr(Text) }),
  Schema.TaggedStruct("Failed", { why: Text }),
  /** A part of the answer to the open question, or to an earlier one. */
  Schema.TaggedStruct("Answer", { isStale: Schema.Boolean, text: Text }),
  Schema.TaggedStruct("Answer", { isStale: Schema.Literal(false), text: Text }),
  Schema.TaggedStruct("AnswerEnd", { how: Schema.Literals(["Completed", "Failed"]) }),
  Schema.TaggedStruct("AwaitSpeech", { seconds: between(2, 5) }),
  Schema.TaggedStruct("HangUp", {}),
  Schema.TaggedStruct("Pass", { millis: between(0, 400) }),
  Schema.TaggedStruct("Pass", { millis: between(0, 10_000) })
])
type Action = typeof Action.Type
const Actions = Schema.Array(Action).check(Schema.isMaxLength(40))
const Ending = Schema.Literals(["Closed", "Stopped"])
const Greeting = Schema.NullOr(Schema.Literals(["Good morning.", " "]))

/** A session with its inputs and commands, and the transcript and speeches that follow from the commands. */
class Run {
  now = START
  session: VoiceSession.VoiceSession
  readonly inputs: Array<VoiceSession.Input> = []
  readonly commands: Array<VoiceSession.Command> = []
  readonly transcript: Array<Turn> = []
  /** The speeches that were sent, with the index of the turn that was stored immediately before. */
  readonly speeches: Array<{ text: string; turn: number | undefined; isClosed: boolean }> = []

  constructor(greeting: string | null) {
    const [session, commands] = VoiceSession.open(greeting, [], this.at)
    this.session = session
    this.execute(commands)
  }

  get at() {
    return Timestamp.Timestamp.make(this.now)
  }

  input(event: VoiceSession.SessionEvent): void {
    const input = { ...event, at: this.at }
    const wasOver = this.session.isOver
    const [next, commands] = VoiceSession.step(this.session, input)
    if (wasOver) assert.deepStrictEqual(commands, [], "no command after the end")
    if (wasOver) assert.isTrue(next.isOver)
    this.inputs.push(input)
    this.session = next
    this.execute(commands)
  }

  execute(commands: ReadonlyArray<VoiceSession.Command>): void {
    for (const command of commands) {
      const before = this.commands.at(-1)
      this.commands.push(command)
      if (command._tag === "AddTurn") {
        assert.strictEqual(command.turn.index, this.transcript.length, "turns are added in order")
        this.transcript.push(command.turn)
      } else if (command._tag === "SetTurnText") {
        assert.strictEqual(this.transcript[command.index]?.role, "agent", "only a turn of the agent changes")
        this.transcript[command.index] = { ...this.transcript[command.index]!, text: command.text }
      } else if (command._tag === "Say") {
        this.say(command, before)
        this.input({ _tag: "Sent", text: command.text })
      }
    }
  }

  say({ isLast, text }: { readonly text: string; readonly isLast: boolean }, before?: VoiceSession.Command): void {
    const open = this.speeches.at(-1)
    if (open !== undefined && !open.isClosed) {
      open.text += text
      open.isClosed = isLast
      return
    }
    const turn = before?._tag === "AddTurn" && before.turn.role === "agent" ? before.turn : undefined
    assert.isTrue(turn?.text === text || text === VoiceSession.APOLOGY, "a turn is stored before its first piece")
    this.speeches.push({ text, turn: turn?.index, isClosed: isLast })
  }

  pass(millis: number): void {
    const until = this.now + millis
    while (!this.session.isOver && VoiceSession.dueAt(this.session) <= until) {
      this.now = Math.max(this.now, VoiceSession.dueAt(this.session))
      this.input({ _tag: "Tick" })
      assert.isTrue(
        this.session.isOver || VoiceSession.dueAt(this.session) > this.now,
        "a tick handles all that is due"
      )
    }
    this.now = until
  }

  act(action: Action): void {
    const { question } = this.session
    switch (action._tag) {
      case "Interrupted": {
        const text = this.speeches.at(-1)?.text ?? ""
        const heard = text.slice(0, Math.ceil((text.length * action.percent) / 100))
        return this.input({ _tag: "Interrupted", spoken: action.words ?? heard })
      }
      case "Answer": {
        const output = { _tag: "Say", text: action.text } as const
        return this.input({ _tag: "Answer", question: action.isStale ? question - 1 : question, output })
      }
      case "AnswerEnd": {
        const output = action.how === "Failed" ? ({ _tag: "Failed", error } as const) : ({ _tag: "Completed" } as const)
        return this.input({ _tag: "Answer", question, output })
      }
      case "AwaitSpeech":
        return this.input({ _tag: "Answer", question, output: action })
      case "HangUp":
        return this.input({ _tag: "Answer", question, output: { _tag: "HangUp" } })
      case "Pass":
        return this.pass(action.millis)
      default:
        return this.input(action)
    }
  }

  count(tag: VoiceSession.Command["_tag"]): number {
    return this.commands.filter(({ _tag }) => _tag === tag).length
  }
}

const runOf = (greeting: string | null, actions: ReadonlyArray<Action>, ending?: "Closed" | "Stopped"): Run => {
  const run = new Run(greeting)
  for (const action of actions) run.act(action)
  if (ending !== undefined) run.input({ _tag: ending })
  return run
}

const stored = (text: string): string => text.toWellFormed().replaceAll("\u0000", "")
const rolesOf = (run: Run, role: Turn["role"]) => run.transcript.filter((turn) => turn.role === role)

describe("any conversation", () => {
  it.prop("records every turn of the caller exactly once, in order", [Greeting, Actions], ([greeting, actions]) => {
    const run = new Run(greeting)
    const said: Array<string> = []
    let pressed = ""
    for (const action of actions) {
      if (run.session.isOver) break
      if (action._tag === "Said" && stored(action.text).trim() !== "") said.push(stored(action.text).trim())
      if (action._tag === "Pressed" && action.key !== "no key") pressed += action.key.toUpperCase()
      run.act(action)
    }
    run.input({ _tag: "Closed" })
    const turns = rolesOf(run, "caller").flatMap(({ text }) => (text === "[silence]" ? [] : [text]))
    const isKeys = (text: string) => text.startsWith("[pressed ")
    assert.deepStrictEqual(
      turns.filter((text) => !isKeys(text)),
      said
    )
    const keys = turns.filter(isKeys).map((text) => text.slice("[pressed ".length, -1))
    assert.strictEqual(keys.join(""), pressed)
    for (const text of keys) assert.match(text, /^[0-9A-D*]*#?$/, "# ends a turn")
  })

  it.prop(
    "records every speech of the agent exactly once, as far as it was sent or heard",
    [Greeting, Actions, Ending],
    ([greeting, actions, ending]) => {
      const run = new Run(greeting)
      const cut = new Set<number>()
      for (const action of actions) {
        run.act(action)
        if (action._tag !== "Interrupted") continue
        for (const { text, turn } of run.speeches) {
          const isWritten = turn !== undefined && run.session.unwritten?.index !== turn
          if (isWritten && run.transcript[turn]!.text !== text) cut.add(turn)
        }
      }
      run.input({ _tag: ending })
      const spoken = run.speeches.filter(({ turn }) => turn !== undefined)
      assert.deepStrictEqual(
        spoken.map(({ turn }) => turn),
        rolesOf(run, "agent").map(({ index }) => index)
      )
      for (const { text, turn } of spoken) {
        const recorded = run.transcript[turn!]!.text
        if (cut.has(turn!)) assert.isAtMost(recorded.length, text.length)
        else assert.strictEqual(recorded, text)
      }
    }
  )

  it.prop(
    "records interrupted speech as far as it was heard, whatever follows",
    [Schema.NonEmptyArray(Text), between(0, 60), Actions, Ending],
    ([pieces, length, actions, ending]) => {
      const run = new Run(null)
      run.act({ _tag: "Said", text: "Hello." })
      for (const text of pieces) run.act({ _tag: "Answer", isStale: false, text })
      const [speech] = run.speeches
      if (speech === undefined) return
      const heard = speech.text.slice(0, length)
      run.input({ _tag: "Interrupted", spoken: heard.replaceAll(/\s+/g, "  ") })
      const recorded = run.transcript[1]!.text
      assert.isTrue(speech.text.startsWith(recorded))
      assert.strictEqual(recorded.replaceAll(/\s/g, ""), heard.replaceAll(/\s/g, ""))
      for (const action of actions) run.act(action)
      run.input({ _tag: ending })
      assert.strictEqual(run.transcript[1]!.text, recorded)
    }
  )

  it.prop(
    "ends exactly once, however its agent, its caller, its relay and its server end it, and issues no command after it",
    [Greeting, Actions, Schema.NonEmptyArray(Ending), Actions],
    ([greeting, actions, endings, later]) => {
      const run = runOf(greeting, actions)
      const endedBefore = run.session.isOver
      for (const ending of endings) run.input({ _tag: ending })
      const count = run.commands.length
      assert.isTrue(run.session.isOver)
      for (const action of later) run.act(action)
      run.pass(100_000)
      assert.strictEqual(run.commands.length, count)
      assert.strictEqual(run.count("End"), endedBefore ? 1 : 0)
      if (endedBefore) assert.strictEqual(run.commands.at(-1)!._tag, "End")
    }
  )

  it.prop(
    "ends after its agent has hung up: by the time of the hangup, or with its relay",
    [Greeting, Actions, Schema.NullOr(Ending)],
    ([greeting, actions, ending]) => {
      const run = runOf(greeting, actions)
      const wasOver = run.session.isOver
      if (!wasOver) run.act({ _tag: "HangUp" })
      const recorded = run.commands.findLast((command) => command._tag === "HangUp")
      assert.isDefined(recorded, "the hangup is recorded at once")
      const due = run.session.hangUpAt!
      const left = due - run.now
      const asked = run.count("Ask")
      run.act({ _tag: "Said", text: "Hello." })
      assert.strictEqual(run.count("Ask"), asked, "the agent is not asked again")
      if (ending === null) run.pass(left)
      else run.input({ _tag: ending })
      assert.isTrue(run.session.isOver)
      const last = run.commands.findLast((command) => command._tag === "HangUp")
      assert.isAtMost(last!.at, run.now)
      assert.strictEqual(run.count("End"), wasOver || ending === null ? 1 : 0)
    }
  )

  it.prop("issues the same commands when its inputs are replayed", [Greeting, Actions, Ending], (given) => {
    const run = runOf(...given)
    const opening = VoiceSession.open(given[0], [], Timestamp.Timestamp.make(START))
    const replayed = run.inputs.reduce<VoiceSession.Step>(
      ([session, commands], input) => {
        const [next, more] = VoiceSession.step(structuredClone(session), input)
        return [next, [...commands, ...more]]
      },
      [opening[0], opening[1]]
    )
    assert.deepStrictEqual(replayed[0], run.session)
    assert.deepStrictEqual(replayed[1], run.commands)
    assert.deepStrictEqual(runOf(...given).commands, run.commands)
  })

  it.prop("has at most one question open, and ignores the answers to all others", [Greeting, Actions], (given) => {
    const run = runOf(...given)
    let open: number | undefined
    for (const command of run.commands) {
      if (command._tag === "Cancel") open = undefined
      if (command._tag !== "Ask") continue
      assert.isUndefined(open)
      open = command.question
      assert.isAtMost(command.context.length, 20)
      assert.isTrue(command.context.every(({ index }) => index < command.turn.index))
    }
    const before = run.session
    const output = { _tag: "Say", text: "Hello." } as const
    const [after, commands] = VoiceSession.step(before, { _tag: "Answer", question: -1, output, at: run.at })
    assert.deepStrictEqual([after, commands], [before, []])
  })

  it.prop("writes a growing turn within 250 ms of each piece, once", [Actions], ([actions]) => {
    const run = new Run(null)
    for (const action of actions) {
      run.act(action)
      const { unwritten } = run.session
      if (unwritten !== null) assert.isAtMost(VoiceSession.dueAt(run.session), run.now + 250)
    }
    run.pass(2_000)
    const writes = run.count("SetTurnText")
    run.pass(60_000)
    assert.strictEqual(run.count("SetTurnText"), writes, "and not again")
  })
})
