import { assert, it } from "@effect/vitest"
import { parseEnvironment } from "../src/command/EnvironmentFile.ts"

const valueOf = (text: string) => parseEnvironment(text).variables.get("A")

it("takes values to the end of their line", () => {
  assert.strictEqual(valueOf("A=ab#cd"), "ab#cd")
  assert.strictEqual(valueOf("A=ab # cd"), "ab # cd")
  assert.strictEqual(valueOf(`A=[{"network":"eip155:196"}]`), `[{"network":"eip155:196"}]`)
  assert.strictEqual(valueOf("A=postgres://u:p=w@h/d?sslmode=require\r\nB=1"), "postgres://u:p=w@h/d?sslmode=require")
  assert.strictEqual(valueOf("  A = x "), "x")
  assert.strictEqual(valueOf("A="), "")
})

it("removes quotes around a whole value, and takes the last line of a name", () => {
  assert.strictEqual(valueOf(`A="18080"`), "18080")
  assert.strictEqual(valueOf(`A='a"b'`), `a"b`)
  assert.strictEqual(valueOf(`A="a" and "b`), `"a" and "b`)
  assert.strictEqual(valueOf("A=1\nA=2"), "2")
})

it("skips comments and empty lines, and reports others", () => {
  const { unreadable, variables } = parseEnvironment("# A=1\n\nexport B=2\nno variable\n=3\n")
  assert.deepStrictEqual([...variables], [["B", "2"]])
  assert.deepStrictEqual(unreadable, [4, 5])
})
