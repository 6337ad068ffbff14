import { describe, expect, it } from "vitest"
import { readFileSync } from "node:fs"
import { type Cast, toSvg } from "../../recording/Cast.ts"

const docs = (name: string) => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8")

const readCast = (file: string): Cast => {
  const [header, ...lines] = file.trim().split("\n")
  const { height, title, width } = JSON.parse(header!)
  const outputs = lines.map((line) => JSON.parse(line)).map(([atSeconds, , text]) => ({ atSeconds, text }))
  return { title, width, height, outputs }
}

const cast = (outputs: Cast["outputs"], size = { width: 10, height: 3 }): Cast => ({
  title: "A test",
  ...size,
  outputs
})

describe("the drawing of a recording", () => {
  it("is the one that the README shows", () => {
    expect(toSvg(readCast(docs("tour.cast")))).toBe(docs("tour.svg"))
  })

  it("breaks a line at the width of the terminal", () => {
    const svg = toSvg(cast([{ atSeconds: 1, text: "0123456789abc\r\n" }]))
    expect(svg).toMatch(/>0123456789<\/text>\n.*>abc<\/text>/)
  })

  it("shows each row from its moment on, and rests at the end", () => {
    const svg = toSvg(
      cast([
        { atSeconds: 2, text: "one\r\n" },
        { atSeconds: 12, text: "two\r\n" }
      ])
    )
    expect(svg).toContain("@keyframes a0{0%{opacity:0}10.00%{opacity:1}}")
    expect(svg).toContain("@keyframes a1{0%{opacity:0}60.00%{opacity:1}}")
    expect(svg).toContain("animation:20.00s step-end infinite")
  })

  it("escapes text", () => {
    expect(toSvg(cast([{ atSeconds: 0, text: "<a&b>\r\n" }]))).toContain(">&lt;a&amp;b&gt;</text>")
  })

  it("refuses more rows than the screen has", () => {
    expect(() => toSvg(cast([{ atSeconds: 0, text: "1\r\n2\r\n3\r\n4\r\n" }]))).toThrow(
      "the recording has 4 rows, and the screen 3"
    )
  })

  it("refuses control characters, which it does not interpret", () => {
    expect(() => toSvg(cast([{ atSeconds: 0, text: "\u001b[1mbold\r\n" }]))).toThrow("control character")
  })
})

describe("the recorded tour", () => {
  it("has the steps of the tour", () => {
    const steps = ["Tour", "MailSteps", "PhoneSteps"]
      .map((name) => readFileSync(new URL(`../../src/tour/${name}.ts`, import.meta.url), "utf8"))
      .flatMap((source) => [...source.matchAll(/\bstep\(\s*"([^"]+)"/g)].map(([, title]) => title!))
    const printed = readCast(docs("tour.cast")).outputs.flatMap(
      ({ text }) => /^ {1,3}\d+ {2}(.+?) {2,}/.exec(text)?.[1] ?? []
    )
    expect(steps.length).toBeGreaterThan(10)
    expect(printed.toSorted()).toEqual(steps.toSorted())
  })
})
