import {
  describeInput,
  ERROR_RECOVERY,
  ERROR_STATUS,
  errorCodesOf,
  errorExample,
  inputsOf,
  OPERATIONS
} from "@agentos/api"
import { type ErrorCode, Usdt } from "@agentos/core"
import { at, document, type Documented, documented, exampleOf, schemaOf, type Json, text } from "./Contract.ts"
import { anchorOf, code, type Group, json, kebab, type Page, paragraphs, table } from "./Page.ts"
import { recordLinks } from "./Records.ts"
import { curlSamples, isCallable, isFile, isPaid, pythonSample, sampleInput, typeScriptSample } from "./Samples.ts"

const AUTHENTICATION: Readonly<Record<string, string>> = {
  none: "none",
  "x402-bootstrap": "none: the [payment](/docs/pay) identifies the wallet",
  bearer: "[access token](/docs/authentication)",
  "sign-in-with-x": "[sign-in by wallet](/docs/authentication#get-a-lost-token-back)",
  unavailable: "unavailable"
}

const facts = ({ entry }: Documented): string =>
  table(
    ["Property", "Value"],
    [
      ["Price", entry.price === null ? "free" : `${Usdt.toDecimal(entry.price)} ${Usdt.ASSET}`],
      ["Authentication", AUTHENTICATION[entry.authentication] ?? entry.authentication],
      ...(entry.serviceId === null ? [] : [["Service", `\`${entry.serviceId}\``]]),
      ["operationId", `\`${entry.operationId}\``]
    ]
  )

const inputs = ({ entry }: Documented): string => {
  const rows = inputsOf(OPERATIONS[entry.operationId]).map((input) => [
    `\`${input.name}\``,
    `${input.in}, ${input.type === "" ? "object" : input.type}${input.required ? ", required" : ""}`,
    describeInput(input)
  ])
  return rows.length === 0 ? "" : paragraphs("### Inputs", table(["Name", "Place and type", "Description"], rows))
}

const NOT_EXECUTED =
  "This sample is compiled, but not executed, by the tests of this documentation: it needs the official package `x402` and a funded wallet."

/** The words that a reader has to change in the samples. */
const samplesNote = (operation: Documented): string => {
  const { body = {}, path, query } = sampleInput(operation)
  const names = Object.keys({ ...path, ...query, ...body })
  const own = names.filter((name) => /Ids?$/.test(name) || name === "url")
  return own.length === 0 ? "" : `Put in your own ${own.map((name) => `\`${name}\``).join(" and ")}.`
}

const request = (operation: Documented): string =>
  paragraphs(
    "## Request",
    inputs(operation),
    samplesNote(operation),
    "### curl",
    ...curlSamples(operation).flatMap((sample) => [sample.text, code("sh", sample.code)]),
    ...(isCallable(operation) ? ["### TypeScript", code("ts", typeScriptSample(operation))] : []),
    "### Python",
    ...(isPaid(operation) ? [NOT_EXECUTED] : []),
    code("python", pythonSample(operation))
  )

/** Returns the successful status of an operation with its response in the document. */
const success = ({ operation }: Documented): readonly [string, Json] => {
  const found = Object.entries(operation["responses"] as Readonly<Record<string, Json>>).find(([status]) =>
    status.startsWith("2")
  )
  return found ?? ["", undefined]
}

const response = (operation: Documented): string => {
  const [status, answer] = success(operation)
  if (status === "") return ""
  const example = exampleOf(answer)
  const links = recordLinks(schemaOf(answer))
  return paragraphs(
    "## Response",
    isFile(operation)
      ? `The response is ${status} with the bytes of the file.`
      : `The response is ${status} with the envelope \`{data, requestId, guide}\`.${links.length === 0 ? "" : ` Records in it: ${links.join(", ")}.`}`,
    example === undefined ? "" : json(example)
  )
}

/** The error that a page shows is the first of these that its operation returns. */
const TYPICAL: ReadonlyArray<ErrorCode> = [
  "NUMBER_EXPIRING",
  "RESOURCE_NOT_FOUND",
  "ONBOARDING_REQUIRED",
  "INVALID_REQUEST"
]

const errors = ({ entry }: Documented): string => {
  const codes = [...errorCodesOf(entry)].toSorted((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b])
  const rows = codes.map((each) => [
    `${ERROR_STATUS[each]}`,
    `[\`${each}\`](/docs/reference/errors#${anchorOf(each)})`,
    ERROR_RECOVERY[each]
  ])
  const typical = TYPICAL.find((each) => entry.errors.includes(each))
  return paragraphs(
    "## Errors",
    table(["Status", "Code", "What to do"], rows),
    ...(typical === undefined
      ? []
      : [`An example of ${ERROR_STATUS[typical]}:`, json(errorExample(typical, OPERATIONS[entry.operationId]))])
  )
}

const next = ({ entry }: Documented): string =>
  entry.nextActions.length === 0
    ? ""
    : paragraphs(
        "## Next",
        entry.nextActions
          .map(({ serviceId, why }) => {
            const found = documented().find((each) => each.entry.serviceId === serviceId)
            return found === undefined
              ? `- ${why}`
              : `- [\`${found.entry.method} ${found.entry.path}\`](${pathOf(found)}): ${why}`
          })
          .join("\n")
      )

export const slugOf = ({ operationId }: Documented): string => `reference/${kebab(operationId)}`
export const pathOf = (operation: Documented): string => `/docs/${slugOf(operation)}`

const page = (operation: Documented): Page => {
  const { entry } = operation
  return {
    slug: slugOf(operation),
    title: text(operation.operation["summary"]),
    description: entry.purpose,
    markdown: paragraphs(
      code("http", `${entry.method} ${entry.path}`),
      text(operation.operation["description"]),
      facts(operation),
      request(operation),
      response(operation),
      errors(operation),
      next(operation)
    )
  }
}

/** Returns one page for each operation, grouped and ordered by the tags of the document. */
export const referenceGroups = (): ReadonlyArray<Group> => {
  const byTag = Map.groupBy(documented(), ({ operation }) => text((operation["tags"] as ReadonlyArray<Json>)[0]))
  return (document["tags"] as ReadonlyArray<Json>).map((tag) => {
    const label = text(at(tag, "name"))
    return { label, pages: (byTag.get(label) ?? []).map(page) }
  })
}
