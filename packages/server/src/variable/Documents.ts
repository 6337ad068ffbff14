import { defaultOf, type Group, GROUPS, type VariableSpec } from "./Variable.ts"
import { ALL_VARIABLES, type Variable } from "./Variables.ts"

const groups = Object.keys(GROUPS) as ReadonlyArray<Group>

const inGroup = (group: Group) => ALL_VARIABLES.filter(([, spec]) => spec.group === group)

/** Remarks of the documents below the variables of a group. */
const REMARKS: Readonly<Partial<Record<Group, string>>> = {
  payment:
    "With the same variables, `agentos-server ledger` accounts for every unit of money and compares the ledger with the chain.",
  quotas: "[Operate](/docs/operate#quotas) describes each quota, and how the server answers when it is used up."
}

const cell = (text: string): string => text.replaceAll("|", "\\|")

const codeOf = (spec: VariableSpec): string => {
  const text = defaultOf(spec)
  return spec.required === undefined && "default" in spec && spec.default !== undefined && !text.includes(";")
    ? `\`${text}\``
    : text
}

const row = (name: string, spec: VariableSpec): string =>
  `| \`${name}\` | ${cell(spec.meaning)} | ${cell(codeOf(spec))} |`

const section = (group: Group): string =>
  [
    `## ${GROUPS[group]}\n`,
    "| variable | meaning | default |",
    "| --- | --- | --- |",
    ...inGroup(group).map(([name, spec]) => row(name, spec)),
    "",
    ...(REMARKS[group] === undefined ? [] : [`${REMARKS[group]}\n`])
  ].join("\n")

export const configurationPage = (): string =>
  [
    "---",
    "title: Configuration",
    'description: "Every environment variable of agentos-server, with its meaning and default."',
    "---\n",
    "`agentos-server` reads environment variables. This page is generated from their declarations in",
    "`packages/server/src/variable`.\n",
    "```",
    "agentos-server init                                    # writes agentos.env, with every variable and new secrets",
    "agentos-server check-config --env-file agentos.env     # reports all problems at once",
    "agentos-server start --env-file agentos.env",
    "```\n",
    "Variables that are set take precedence over the file. The server warns of `AGENTOS_*` variables that it does not know.\n",
    ...groups.map(section)
  ].join("\n")

const WIDTH = 100

/** Plain text of a Markdown phrase, as a sentence in lines of comments. */
const comment = (text: string): string => {
  // A reference in parentheses is its path; any other link keeps its words.
  const plain = text
    .replaceAll(/\(\[[^\]]*\]\(([^)]*)\)\)/g, "($1)")
    .replaceAll(/\[([^\]]*)\]\(([^)]*)\)/g, "$1 ($2)")
    .replaceAll("`", "")
  const lines: Array<string> = []
  for (const word of `${plain.slice(0, 1).toUpperCase()}${plain.slice(1)}.`.split(" ")) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(`# ${word}`)
  }
  return lines.join("\n")
}

const entry = (name: string, spec: VariableSpec, secret: string | undefined): string => {
  const fallback = defaultOf(spec)
  const value = "default" in spec && spec.default !== undefined ? String(spec.default) : (spec.example ?? "")
  const notes = [
    comment(spec.meaning),
    ...(spec.required !== undefined ? ["# Required."] : [`# Default: ${fallback.replaceAll("`", "")}`]),
    ...(spec.required !== undefined && secret === undefined && spec.example !== undefined
      ? [`# Example: ${spec.example}`]
      : [])
  ]
  const line =
    secret !== undefined ? `${name}=${secret}` : spec.required !== undefined ? `${name}=` : `#${name}=${value}`
  return `${notes.join("\n")}\n${line}\n`
}

/**
 * Returns an environment file with every variable, as systemd (EnvironmentFile), Docker (--env-file) and `--env-file` read
 * it. Optional variables are commented out. `secrets` are the values of new secrets.
 */
export const environmentFile = (secrets: Readonly<Partial<Record<Variable, string>>>): string =>
  [
    "# Configuration of agentos-server. Check it: agentos-server check-config --env-file FILE",
    "# Values have no quotes and end with the line. This file contains secrets: keep it readable by the server alone.\n",
    ...groups.flatMap((group) => [
      `# ---- ${GROUPS[group]} ${"-".repeat(WIDTH - 8 - GROUPS[group].length)}\n`,
      ...inGroup(group).map(([name, spec]) => entry(name, spec, secrets[name]))
    ])
  ].join("\n")
