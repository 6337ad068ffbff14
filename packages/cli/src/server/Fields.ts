import { Failure } from "../failure/Failure.ts"

/** Inputs of the catalog that are lists of texts, and those that are yes or no. */
const LISTS = new Set(["to", "cc", "bcc", "types"])
const BOOLEANS = new Set(["active", "confirmRelease"])

const wrong = (message: string) => new Failure({ code: "USAGE", message })

const jsonOf = (field: string, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw wrong(`${field} is not JSON after its :=.`)
  }
}

/**
 * Reads fields of a call: `name=text`, or `name:=json`. Inputs that the API
 * takes as a list or as a boolean need no JSON: `to=a@b.example` given twice is a list of two.
 */
export const readFields = (fields: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  const read = new Map<string, unknown>()
  for (const field of fields) {
    const match = /^([A-Za-z][\w.-]*)(:?=)(.*)$/s.exec(field)
    if (match === null) throw wrong(`"${field}" is no field: write NAME=TEXT, or NAME:=JSON.`)
    const [, name = "", sign, text = ""] = match
    const before = read.get(name)
    const isList = sign === "=" && LISTS.has(name)
    if (before !== undefined && !isList) throw wrong(`The field ${name} is given twice.`)
    if (sign === ":=") read.set(name, jsonOf(field, text))
    else if (isList) read.set(name, [...(Array.isArray(before) ? before : []), text])
    else if (BOOLEANS.has(name) && (text === "true" || text === "false")) read.set(name, text === "true")
    else read.set(name, text)
  }
  return Object.fromEntries(read)
}
