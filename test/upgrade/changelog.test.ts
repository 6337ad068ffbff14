import { describe, expect, it } from "vitest"
import { sectionOf, withSection } from "../../release/Changelog.ts"

const LOGS = new Map([
  [
    "@agentos/server",
    "# @agentos/server\n\n## 1.1.0\n\n### Minor Changes\n\n- 1234567: A command.\n  Two lines.\n\n### Patch Changes\n\n" +
      "- Updated dependencies [1234567]\n  - @agentos/core@1.1.0\n\n## 1.0.0\n\n### Minor Changes\n\n- 7654321: Older.\n"
  ],
  ["@agentos/core", "# @agentos/core\n\n## 1.1.0\n\n### Minor Changes\n\n- 1234567: A command.\n  Two lines.\n"],
  ["@agentos/api", "# @agentos/api\n\n## 1.1.0\n\n### Patch Changes\n\n- 89abcde: A repair.\n"]
])
const SECTION = `## 1.1.0

### Minor changes

- 1234567: A command.
  Two lines.
  (@agentos/server, @agentos/core)

### Patch changes

- 89abcde: A repair.
  (@agentos/api)`

describe("the changelog of all packages", () => {
  it("has each change of a version once, with its packages, and none of its dependencies", () => {
    expect(sectionOf("1.1.0", LOGS)).toBe(SECTION)
  })

  it("begins with the newest version, and has each version once", () => {
    const first = withSection("", "1.0.0", "## 1.0.0\n\nOlder.")
    const second = withSection(first, "1.1.0", SECTION)
    expect(second).toBe(`# Changelog\n\n${SECTION}\n\n## 1.0.0\n\nOlder.\n`)
    expect(withSection(second, "1.1.0", SECTION)).toBe(second)
  })
})
