//! Where everything stands, so that people can follow the lines: columns from left to right, few crossings, and a place of its
//! own for every label.
//!
//! A line that passes a column bends through a place that is kept free there. It enters a node at a height of its own, and its
//! label lies above the last, level part of it, in a lane before the column: so labels touch neither boxes nor each other.

use super::Drawing;

/// The width of a letter, and the height of a line of text. Letters have one width, so boxes are as wide as their texts.
pub(super) const LETTER: usize = 8;
pub(super) const TEXT: usize = 17;
/// The same for labels.
pub(super) const SMALL_LETTER: usize = 7;
/// Around the texts of a box.
pub(super) const PADDING: usize = 9;
/// Between boxes of a column, and around everything.
pub(super) const SPACE: usize = 18;
/// Between two columns, besides their labels: lines bend there.
const GAP: usize = 56;
/// How often columns are put in order.
const ROUNDS: usize = 9;

/// A box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Area {
    pub(super) fn right(self) -> usize {
        self.left + self.width
    }

    pub(super) fn bottom(self) -> usize {
        self.top + self.height
    }

    fn middle(self) -> usize {
        self.top + self.height / 2
    }
}

/// A line from box to box.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// Where it goes; the last part is level.
    pub(super) points: Vec<(usize, usize)>,
    /// Where its label is.
    pub(super) label: Area,
}

/// Where everything stands.
#[derive(Debug)]
pub(super) struct Layout {
    /// By node.
    pub(super) boxes: Vec<Area>,
    /// By edge.
    pub(super) routes: Vec<Route>,
}

/// Places everything.
pub(super) fn layout(drawing: &Drawing) -> Layout {
    let mut plan = Plan::new(drawing);
    plan.order();
    plan.place(drawing);
    let routes = plan.routes(drawing);
    let boxes = plan.items.iter().take(drawing.nodes.len()).map(|item| item.area).collect();
    Layout { boxes, routes }
}

/// A node, or the place where a line passes a column.
#[derive(Debug, Default)]
struct Item {
    column: usize,
    /// Its place among those of its column.
    rank: usize,
    area: Area,
    /// Where the widest of its column ends: lines bend only behind it.
    end: usize,
    /// What is one column to the left, and leads here.
    before: Vec<usize>,
    /// What is one column to the right.
    after: Vec<usize>,
}

/// Which side of an item counts.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    Before,
    After,
}

struct Plan {
    /// Nodes first, by their places.
    items: Vec<Item>,
    /// The items that each edge passes, its ends included.
    chains: Vec<Vec<usize>>,
    /// The items of each column, from above.
    columns: Vec<Vec<usize>>,
}

impl Plan {
    fn new(drawing: &Drawing) -> Self {
        let columns = columns(drawing);
        let sized = drawing.nodes.iter().zip(&columns).enumerate().map(|(place, (node, column))| {
            let lines = node.lines();
            let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
            let arriving = drawing.edges.iter().filter(|edge| edge.to == place).count();
            let height = (lines.len() * TEXT).max(arriving * TEXT) + PADDING;
            let area = Area { width: longest * LETTER + 2 * PADDING, height, ..Area::default() };
            Item { column: *column, area, ..Item::default() }
        });
        let mut plan = Self { items: sized.collect(), chains: Vec::new(), columns: Vec::new() };
        for edge in &drawing.edges {
            let chain = plan.chain(edge.from, edge.to);
            plan.chains.push(chain);
        }
        let most = plan.items.iter().map(|item| item.column).max().unwrap_or(0);
        plan.columns = vec![Vec::new(); most + 1];
        for (place, item) in plan.items.iter_mut().enumerate() {
            if let Some(column) = plan.columns.get_mut(item.column) {
                item.rank = column.len();
                column.push(place);
            }
        }
        plan
    }

    /// Leads an edge through all columns between its ends. What leads back is left alone.
    fn chain(&mut self, from: usize, to: usize) -> Vec<usize> {
        let column = |items: &[Item], place: usize| items.get(place).map_or(0, |item| item.column);
        let (first, last) = (column(&self.items, from), column(&self.items, to));
        let mut chain = vec![from];
        for column in first + 1..last {
            chain.push(self.items.len());
            let area = Area { height: TEXT, ..Area::default() };
            self.items.push(Item { column, area, ..Item::default() });
        }
        chain.push(to);
        if first < last {
            for (one, other) in chain.iter().zip(chain.iter().skip(1)) {
                if let Some(item) = self.items.get_mut(*one) {
                    item.after.push(*other);
                }
                if let Some(item) = self.items.get_mut(*other) {
                    item.before.push(*one);
                }
            }
        }
        chain
    }

    /// Puts columns in an order in which few lines cross: everything near the middle of what it is connected with.
    fn order(&mut self) {
        for round in 0..ROUNDS {
            let forward = round % 2 == 0;
            for place in 0..self.columns.len() {
                let place = if forward { place } else { self.columns.len() - 1 - place };
                self.order_column(place, forward);
            }
        }
    }

    fn order_column(&mut self, place: usize, forward: bool) {
        let Some(mut column) = self.columns.get(place).cloned() else { return };
        column.sort_by_cached_key(|place| {
            let Some(item) = self.items.get(*place) else { return (0, 0) };
            let near = if forward { &item.before } else { &item.after };
            let near = near.iter().filter_map(|near| self.items.get(*near)).map(|near| near.rank * 1024);
            // Parts of one thing stay in the order of the document.
            (mean(near).unwrap_or(item.rank * 1024), *place)
        });
        for (rank, item) in column.iter().enumerate() {
            if let Some(item) = self.items.get_mut(*item) {
                item.rank = rank;
            }
        }
        if let Some(own) = self.columns.get_mut(place) {
            *own = column;
        }
    }

    /// Gives every item its area: columns side by side with room for labels. The longest column stands close together; in the
    /// others, everything stands beside what it is connected with.
    fn place(&mut self, drawing: &Drawing) {
        let mut left = SPACE;
        for place in 0..self.columns.len() {
            left += self.lane(drawing, place);
            let column = self.columns.get(place).cloned().unwrap_or_default();
            let width = column.iter().filter_map(|item| self.items.get(*item)).map(|item| item.area.width).max();
            let width = width.unwrap_or(0);
            for item in column {
                if let Some(item) = self.items.get_mut(item) {
                    item.area.left = left;
                    item.end = left + width;
                }
                // Lines that pass are level there.
                if let Some(bend) = self.items.get_mut(item).filter(|_| item >= drawing.nodes.len()) {
                    bend.area.width = width;
                }
            }
            left += width + GAP;
        }
        let height = |column: &Vec<usize>| -> usize {
            let items = column.iter().filter_map(|item| self.items.get(*item));
            items.map(|item| item.area.height + SPACE).sum()
        };
        let heights = self.columns.iter().map(height).enumerate();
        let longest = heights.max_by_key(|(place, height)| (*height, *place)).map_or(0, |(place, _)| place);
        self.stack(longest, Beside::Nothing);
        for place in (0..longest).rev() {
            self.stack(place, Beside::After);
        }
        for place in longest + 1..self.columns.len() {
            self.stack(place, Beside::Before);
        }
    }

    /// Puts the items of a column below each other, each as near as can be to what it is connected with on one side.
    fn stack(&mut self, column: usize, beside: Beside) {
        let mut free = SPACE;
        for place in self.columns.get(column).cloned().unwrap_or_default() {
            let Some(item) = self.items.get(place) else { continue };
            let near: &[usize] = match beside {
                Beside::Nothing => &[],
                Beside::Before => &item.before,
                Beside::After => &item.after,
            };
            let near = near.iter().filter_map(|near| self.items.get(*near)).map(|near| near.area.middle());
            let wanted = mean(near).map_or(0, |middle| middle.saturating_sub(item.area.height / 2));
            if let Some(item) = self.items.get_mut(place) {
                item.area.top = free.max(wanted);
                free = item.area.bottom() + SPACE;
            }
        }
    }

    /// How wide the labels are that stand before a column.
    fn lane(&self, drawing: &Drawing, column: usize) -> usize {
        let entering =
            drawing.edges.iter().filter(|edge| self.items.get(edge.to).is_some_and(|item| item.column == column));
        entering.map(|edge| label_width(&edge.label)).max().unwrap_or(0)
    }

    fn routes(&self, drawing: &Drawing) -> Vec<Route> {
        let mut routes = vec![Route::default(); self.chains.len()];
        for (to, _) in drawing.nodes.iter().enumerate() {
            let Some(end) = self.items.get(to).map(|item| item.area) else { continue };
            let mut entering: Vec<usize> =
                drawing.edges.iter().enumerate().filter(|(_, edge)| edge.to == to).map(|(place, _)| place).collect();
            // In the order in which they come from above.
            entering.sort_by_key(|place| (self.last_height(*place), *place));
            let first = end.top + (end.height + TEXT).saturating_sub(entering.len() * TEXT) / 2;
            for (number, place) in entering.into_iter().enumerate() {
                let height = first + number * TEXT;
                let label = drawing.edges.get(place).map_or("", |edge| edge.label.as_str());
                if let (Some(route), Some(chain)) = (routes.get_mut(place), self.chains.get(place)) {
                    *route = self.route(chain, end, height, label);
                }
            }
        }
        routes
    }

    /// At which height an edge comes into the last column.
    fn last_height(&self, edge: usize) -> usize {
        let before = self.chains.get(edge).and_then(|chain| chain.iter().rev().nth(1));
        before.and_then(|before| self.items.get(*before)).map_or(0, |item| item.area.middle())
    }

    fn route(&self, chain: &[usize], end: Area, height: usize, label: &str) -> Route {
        let mut points = Vec::new();
        for (number, item) in chain.iter().rev().skip(1).rev().enumerate() {
            let Some(Item { area, end, .. }) = self.items.get(*item) else { continue };
            let begin = if number == 0 { area.right() } else { area.left };
            points.extend([(begin, area.middle()), (*end, area.middle())]);
        }
        let width = label_width(label);
        let label = Area {
            left: end.left.saturating_sub(width),
            top: height.saturating_sub(TEXT - 4),
            width: width.saturating_sub(2 * PADDING),
            height: TEXT - 5,
        };
        points.push((end.left.saturating_sub(width.max(PADDING)), height));
        points.push((end.left, height));
        Route { points, label }
    }
}

/// How much room a label needs before the box that its line leads to.
fn label_width(label: &str) -> usize {
    match label.chars().count() {
        0 => 0,
        letters => letters * SMALL_LETTER + 2 * PADDING,
    }
}

fn mean(all: impl Iterator<Item = usize>) -> Option<usize> {
    let (sum, count) = all.fold((0, 0), |(sum, count), one| (sum + one, count + 1));
    (count > 0).then(|| sum / count)
}

/// How far each node is from the left: behind everything that leads to it. Circles end after as many rounds as there are nodes.
fn columns(drawing: &Drawing) -> Vec<usize> {
    let mut columns = vec![0; drawing.nodes.len()];
    for _ in 0..drawing.nodes.len().min(64) {
        let mut moved = false;
        for edge in &drawing.edges {
            let wanted = columns.get(edge.from).copied().unwrap_or(0) + 1;
            if let Some(column) = columns.get_mut(edge.to).filter(|column| **column < wanted) {
                *column = wanted;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    columns
}
