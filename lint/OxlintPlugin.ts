/** Rules of this project that oxlint does not include, and the part of ESLint's plugin interface that they use. */
interface SyntaxNode {
  readonly type: string
  readonly name?: string
  readonly callee?: SyntaxNode
  readonly object?: SyntaxNode
  readonly property?: SyntaxNode
  readonly arguments?: ReadonlyArray<SyntaxNode>
}

interface Comment {
  readonly value: string
}

interface Position {
  readonly line: number
  readonly column: number
}

interface RuleContext {
  readonly sourceCode: {
    readonly text: string
    readonly getAllComments: () => ReadonlyArray<Comment>
    readonly getLocFromIndex: (index: number) => Position
  }
  readonly report: (
    problem: { readonly message: string } & (
      | { readonly node: unknown }
      | { readonly loc: { readonly start: Position; readonly end: Position } }
    )
  ) => void
}

const callsDate = (node: SyntaxNode): boolean => node.callee?.type === "Identifier" && node.callee.name === "Date"

/** `new Date()` and `Date()` read the machine's clock; `new Date(millis)` only converts and is allowed. */
const noAmbientClock = {
  create: (context: RuleContext) => {
    const report = (node: SyntaxNode) =>
      context.report({ node, message: "Read the time from Effect's Clock, so that a test can set it." })
    return {
      NewExpression: (node: SyntaxNode) => {
        if (callsDate(node) && node.arguments?.length === 0) report(node)
      },
      CallExpression: (node: SyntaxNode) => {
        if (callsDate(node)) report(node)
      }
    }
  }
}

const disabling = /^\s*(?:oxlint|eslint)-disable\b/

/** Requires a reason for a disabled rule: `oxlint-disable-next-line rule -- reason`. */
const reasonedDisable = {
  create: (context: RuleContext) => ({
    Program: () => {
      for (const comment of context.sourceCode.getAllComments()) {
        if (disabling.test(comment.value) && !/\s--\s+\S/.test(comment.value))
          context.report({ node: comment, message: "Add a reason: oxlint-disable-next-line some-rule -- the reason." })
      }
    }
  })
}

const inputLimits = new Set(["isBetween", "isMaxLength", "isMinLength", "isPattern"])

/** The limits of an input are checks of its one schema. Everything else reads them from there. */
const inputsDeclaredOnce = {
  create: (context: RuleContext) => ({
    MemberExpression: (node: SyntaxNode) => {
      if (node.object?.name === "Schema" && inputLimits.has(node.property?.name ?? ""))
        context.report({
          node,
          message: "Declare the limits of inputs in the schema of the operation: *Input.ts or api."
        })
    }
  })
}

const variable = /\bAGENTOS_[A-Z]\w*/g

/** The variables belong to the programs, which read them. A message to the operator names an option by `SettingName`. */
const noProgramVariables = {
  create: (context: RuleContext) => ({
    Program: () => {
      const { getLocFromIndex, text } = context.sourceCode
      for (const { 0: name, index } of text.matchAll(variable))
        context.report({
          loc: { start: getLocFromIndex(index), end: getLocFromIndex(index + name.length) },
          message: `Name the option. The program that reads ${name} translates it.`
        })
    }
  })
}

export default {
  meta: { name: "agentos" },
  rules: {
    "no-ambient-clock": noAmbientClock,
    "reasoned-disable": reasonedDisable,
    "inputs-declared-once": inputsDeclaredOnce,
    "no-program-variables": noProgramVariables
  }
}
