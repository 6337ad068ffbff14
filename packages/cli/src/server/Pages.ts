export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | null
}

const PAGE_SIZE = 100

/** Fetches pages until `limit` items or the end. The returned cursor continues from there. */
export const collectPages = async <Item>(
  limit: number,
  cursor: string | undefined,
  fetchPage: (limit: number, cursor: string | undefined) => Promise<Page<Item>>
): Promise<Page<Item>> => {
  const items: Array<Item> = []
  let position = cursor
  for (;;) {
    const page = await fetchPage(Math.min(PAGE_SIZE, limit - items.length), position)
    items.push(...page.items)
    if (page.nextCursor === null || items.length >= limit || page.items.length === 0)
      return { items, nextCursor: page.nextCursor }
    position = page.nextCursor
  }
}
