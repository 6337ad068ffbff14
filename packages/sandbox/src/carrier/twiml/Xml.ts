/** An element of a document, with its attributes and what is in it. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: ReadonlyArray<XmlElement | string>
}

/** Why a text is no document that can be read. */
export class XmlError extends Error {}

interface OpenElement {
  readonly name: string
  readonly attributes: Record<string, string>
  readonly children: Array<XmlElement | string>
}

const depthMax = 20
const nameText = "[A-Za-z_][\\w.-]*"
const tag = new RegExp(`^<(${nameText})((?:\\s+${nameText}\\s*=\\s*(?:"[^"<]*"|'[^'<]*'))*)\\s*(/?)>`)
const attribute = new RegExp(`(${nameText})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, "g")
const closing = new RegExp(`^</(${nameText})\\s*>`)
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/**
 * Reads an XML document as far as TwiML needs it: elements, attributes, text, character data, comments and the
 * declaration. A document type, and with it an entity of one's own, is refused.
 */
export const readXml = (text: string): XmlElement => {
  let rest = text.replace(/^\uFEFF/, "").trimStart()
  const root: OpenElement = { name: "", attributes: {}, children: [] }
  const open: Array<OpenElement> = [root]

  const skip = (length: number): void => {
    rest = rest.slice(length)
  }
  const until = (end: string, start: number): string => {
    const at = rest.indexOf(end, start)
    if (at < 0) throw new XmlError(`no end: ${end}`)
    const content = rest.slice(start, at)
    skip(at + end.length)
    return content
  }
  while (rest !== "") {
    const current = open.at(-1) as OpenElement
    if (rest.startsWith("<!--")) until("-->", 4)
    else if (rest.startsWith("<?")) until("?>", 2)
    else if (rest.startsWith("<![CDATA[")) current.children.push(until("]]>", 9))
    else if (rest.startsWith("</")) {
      const [whole = "", name] = closing.exec(rest) ?? []
      if (name === undefined || name !== current.name) throw new XmlError(`<${current.name}> is not closed`)
      open.pop()
      skip(whole.length)
    } else if (rest.startsWith("<")) {
      const [whole, name = "", attributes = "", empty] = tag.exec(rest) ?? []
      if (whole === undefined) throw new XmlError(`not a tag: ${rest.slice(0, 40)}`)
      const element: OpenElement = { name, attributes: readAttributes(attributes), children: [] }
      current.children.push(element)
      if (empty === "") open.push(element)
      if (open.length > depthMax) throw new XmlError("nested too deeply")
      skip(whole.length)
    } else {
      const at = rest.indexOf("<")
      const content = at < 0 ? rest : rest.slice(0, at)
      current.children.push(readText(content))
      skip(content.length)
    }
  }
  if (open.length > 1) throw new XmlError(`<${open.at(-1)?.name}> is not closed`)
  const [element, ...more] = root.children.filter((child) => typeof child !== "string" || child.trim() !== "")
  if (element === undefined || typeof element === "string" || more.length > 0) throw new XmlError("not one element")
  return element
}

const readAttributes = (text: string): Record<string, string> => {
  const attributes: Record<string, string> = {}
  for (const [, name = "", double, single] of text.matchAll(attribute)) {
    if (name in attributes) throw new XmlError(`attribute ${name} given twice`)
    attributes[name] = readText(double ?? single ?? "")
  }
  return attributes
}

const readText = (text: string): string =>
  text.replace(/&([^;&]*);?/g, (reference, name: string) => {
    const code = /^#(?:x([\dA-Fa-f]{1,6})|(\d{1,7}))$/.exec(name)
    const point = code === null ? undefined : Number.parseInt(code[1] ?? code[2]!, code[1] === undefined ? 10 : 16)
    const replaced = point !== undefined && point <= 0x10ffff ? String.fromCodePoint(point) : entities[name]
    if (replaced === undefined || !reference.endsWith(";")) throw new XmlError(`not an entity: ${reference}`)
    return replaced
  })
