/** The kinds of changes as changesets name them, the one that matters most first. */
const KINDS = ["Major", "Minor", "Patch"]

interface Change {
  readonly kind: string
  /** With the commit that described it, in Markdown. */
  readonly text: string
}

/** Returns the changes of a version in the changelog of a package, without those of its dependencies. */
const changesIn = (version: string, log: string): ReadonlyArray<Change> => {
  const [, section = ""] = log.split(new RegExp(`^## ${version.replaceAll(".", "\\.")}$`, "m"))
  const [own = ""] = section.split(/^## /m)
  return KINDS.flatMap((kind) => {
    const [, list = ""] = own.split(`### ${kind} Changes\n`)
    const entries = list.split(/^### /m)[0]!.split(/^- /m)
    return entries.flatMap((entry) => (/^[0-9a-f]{7}: /.test(entry) ? [{ kind, text: entry.trim() }] : []))
  })
}

/** Returns the section of a version for the changelog of all packages: each change once, with the packages that it names. */
export const sectionOf = (version: string, logs: ReadonlyMap<string, string>): string => {
  const changes = [...logs].flatMap(([name, log]) => changesIn(version, log).map((change) => ({ ...change, name })))
  const parts = KINDS.flatMap((kind) => {
    const named = Map.groupBy(
      changes.filter((change) => change.kind === kind),
      ({ text }) => text
    )
    if (named.size === 0) return []
    const lines = [...named].map(([text, same]) => `- ${text}\n  (${same.map(({ name }) => name).join(", ")})`)
    return [`### ${kind} changes`, lines.join("\n")]
  })
  return [`## ${version}`, ...parts].join("\n\n")
}

const TITLE = "# Changelog"

/** Adds a section as the newest, or replaces it. */
export const withSection = (changelog: string, version: string, section: string): string => {
  const [, ...older] = changelog.split(/^(?=## )/m)
  const others = older.filter((text) => !text.startsWith(`## ${version}\n`)).map((text) => text.trim())
  return `${[TITLE, section, ...others].join("\n\n")}\n`
}
