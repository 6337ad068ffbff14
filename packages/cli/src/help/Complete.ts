import {
  type CommandTree,
  type Completion,
  type FlagSpec,
  isShellWord,
  Output,
  plainLine
} from "@agentos/node/command-line"
import { GLOBAL_FLAGS, type GlobalValues } from "../context/Flags.ts"
import type { Host } from "../host/Host.ts"
import { callPartner } from "../output/Wording.ts"

/** How long a press of Tab may take. */
const TIMEOUT_MILLIS = 1_500
const PAGE_SIZE = 50

/** Tells the completion script to complete file names. */
const FILES = ":files"

interface Candidate {
  readonly word: string
  readonly does?: string | undefined
}

/** The word at the cursor. Bash passes the = of `--flag=value` as a separate word. */
const currentOf = (typed: ReadonlyArray<string>): string => {
  const last = typed.at(-1) ?? ""
  return last === "=" ? "" : last
}

interface Position {
  readonly words: ReadonlyArray<string>
  readonly flags: ReadonlyArray<FlagSpec>
  /** The flag whose value is at the cursor. */
  readonly pending: FlagSpec | undefined
  /** The number of arguments before the cursor. */
  readonly argumentCount: number
  readonly given: ReadonlyMap<string, string>
}

const positionOf = (tree: CommandTree, before: ReadonlyArray<string>): Position => {
  const words: Array<string> = []
  const given = new Map<string, string>()
  let pending: FlagSpec | undefined
  let argumentCount = 0
  const flags = (): ReadonlyArray<FlagSpec> => [...GLOBAL_FLAGS, ...(tree.find(words.join(" "))?.flags ?? [])]
  for (const text of before) {
    if (pending !== undefined && text === "=") continue
    if (pending !== undefined) {
      given.set(pending.name, text)
      pending = undefined
    } else if (text.startsWith("-")) {
      const [name = "", value] = text.replace(/^-+/, "").split("=", 2)
      const flag = flags().find((candidate) => candidate.name === name || candidate.short === name)
      if (value !== undefined) given.set(name, value)
      else if (flag !== undefined && flag.type !== "boolean") pending = flag
    } else if (argumentCount === 0 && tree.wordsAfter(words).includes(text)) words.push(text)
    else argumentCount++
  }
  return { words, flags: flags(), pending, argumentCount, given }
}

const wordCandidates = (tree: CommandTree, words: ReadonlyArray<string>): ReadonlyArray<Candidate> =>
  tree.wordsAfter(words).map((word) => {
    const name = [...words, word].join(" ")
    return { word, does: tree.find(name)?.summary ?? tree.groups[name] }
  })

/** Returns the candidates for the last word: commands, flags or values. */
const candidatesFor = async (
  host: Host,
  tree: CommandTree,
  typed: ReadonlyArray<string>
): Promise<ReadonlyArray<Candidate>> => {
  const current = currentOf(typed)
  const position = positionOf(tree, typed.slice(0, -1))
  const { argumentCount, flags, pending, words } = position
  if (pending !== undefined) return valuesOf(host, tree, position, pending)
  const [flagName = "", value] = current.startsWith("--") ? current.slice(2).split("=", 2) : []
  const assigned =
    value === undefined ? undefined : flags.find(({ name, type }) => name === flagName && type !== "boolean")
  if (assigned !== undefined) {
    const values = await valuesOf(host, tree, position, assigned)
    // A shell cannot complete file names after `--flag=`, because it completes the whole word.
    return values.flatMap(({ does, word }) => (word === FILES ? [] : [{ word: `--${flagName}=${word}`, does }]))
  }
  if (current.startsWith("-")) return flags.map(({ name, summary }) => ({ word: `--${name}`, does: summary }))
  const command = tree.find(words.join(" "))
  if (command === undefined) return wordCandidates(tree, words)
  const argument = command.arguments[Math.min(argumentCount, command.arguments.length - 1)]
  if (argument === undefined || (argumentCount >= command.arguments.length && argument.presence !== "several"))
    return []
  if (argument.completes === "command") return wordCandidates(tree, typed.slice(words.length, -1))
  return valuesOf(host, tree, position, argument)
}

const valuesOf = async (
  host: Host,
  tree: CommandTree,
  { given }: Position,
  { choices, completes }: { readonly choices?: ReadonlyArray<string>; readonly completes?: Completion }
): Promise<ReadonlyArray<Candidate>> => {
  if (choices !== undefined) return choices.map((word) => ({ word }))
  if (completes === undefined) return []
  if (completes === "file") return [{ word: FILES }]
  if (completes === "command") return tree.commands.map(({ name, summary }) => ({ word: name, does: summary }))
  const globals: GlobalValues = {
    help: false,
    json: false,
    quiet: true,
    "no-color": true,
    version: false,
    profile: given.get("profile"),
    "base-url": given.get("base-url")
  }
  return resourceCandidates(host, globals, completes)
}

/** Returns ids from the server, or names from this machine. */
const resourceCandidates = async (
  host: Host,
  globals: GlobalValues,
  kind: Exclude<Completion, "file" | "command">
): Promise<ReadonlyArray<Candidate>> => {
  const { connect, connectWithToken } = await import("../server/Connection.ts")
  const context = { host, globals, output: new Output(host, { json: false, quiet: true, color: false }) }
  const client = async () => (await connectWithToken(context)).client
  const query = { limit: PAGE_SIZE }
  switch (kind) {
    case "mailbox": {
      const { items } = await (await client()).call("listMailboxes")
      return items.map(({ address, localPart }) => ({ word: localPart, does: address }))
    }
    case "message": {
      const data = await (await client()).call("queryMessages", { query })
      const items = "items" in data ? data.items : []
      return items.map(({ from, messageId, subject }) => ({ word: messageId, does: `${from}: ${subject}` }))
    }
    case "number": {
      const { items } = await (await client()).call("listNumbers")
      return items.map(({ agentName, number }) => ({ word: number, does: agentName }))
    }
    case "call": {
      const { items } = await (await client()).call("listCalls", { query })
      return items.map((call) => ({ word: call.callId, does: callPartner(call) }))
    }
    case "event": {
      const { items } = await (await client()).call("replayEvents", { query })
      return items.map(({ eventId, type }) => ({ word: eventId, does: type }))
    }
    case "service": {
      const { items } = await (await connect(context)).client.call("listServices")
      return items.map(({ purpose, serviceId }) => ({ word: serviceId, does: purpose }))
    }
    case "payment": {
      const { readEntries } = await import("../payment/Journal.ts")
      return (await readEntries(host)).map(({ id, serviceId }) => ({ word: id, does: serviceId }))
    }
    case "profile": {
      const { readConfig } = await import("../config/ConfigFile.ts")
      return Object.keys((await readConfig(host)).profiles).map((word) => ({ word }))
    }
  }
}

/** Runs `agentctl __complete WORDS…` for the completion scripts: prints one candidate a line, its summary after a tab. */
export const complete = async (host: Host, tree: CommandTree): Promise<void> => {
  const signal = AbortSignal.any([host.signal, AbortSignal.timeout(TIMEOUT_MILLIS)])
  let candidates: ReadonlyArray<Candidate> = []
  try {
    candidates = await candidatesFor({ ...host, signal }, tree, host.argv.slice(1))
  } catch {
    // Without a server, a token or enough time there are no candidates. A prompt is no place for an error.
  }
  const current = currentOf(host.argv)
  for (const { does, word } of candidates)
    // The shell inserts the word unquoted, and the server made some of these words.
    if (word === FILES || (word.startsWith(current) && isShellWord(word)))
      host.stdout.write(`${plainLine(word)}${does === undefined ? "" : `\t${plainLine(does)}`}\n`)
}

const BASH = `# bash completion of agentctl; see: agentctl completion --help
_agentctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  # Readline passes the = of --flag=value as a separate word.
  [[ "$current" == "=" ]] && current=""
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    if [[ "$line" == ":files" ]]; then
      compopt -o default 2>/dev/null
    elif [[ "$line" == "$current"* ]]; then
      COMPREPLY+=("$line")
    fi
  done < <(agentctl __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _agentctl agentctl
`

const ZSH = `#compdef agentctl
# zsh completion of agentctl; see: agentctl completion --help
_agentctl() {
  local -a found
  local line name does
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      _files
      continue
    fi
    name="\${line%%$'\\t'*}"
    does="\${line#*$'\\t'}"
    [[ "$does" == "$line" ]] && does=""
    found+=("\${name//:/\\\\:}:$does")
  done < <(agentctl __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe agentctl found
}
if [ "$funcstack[1]" = "_agentctl" ]; then
  _agentctl "$@"
else
  compdef _agentctl agentctl
fi
`

const FISH = `# fish completion of agentctl; see: agentctl completion --help
function __agentctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (agentctl __complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c agentctl -f -a '(__agentctl_complete)'
`

/** Returns the completion script of a shell. The scripts run `agentctl __complete`, so they never become outdated. */
export const completionScript = (shell: "bash" | "zsh" | "fish"): string =>
  ({ bash: BASH, zsh: ZSH, fish: FISH })[shell]
