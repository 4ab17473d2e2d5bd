//! Shapley values of the columns that a repair replaced, (E8).

use super::search::{Ground, Repair};
use crate::error::Result;

/// The game of all ways to put columns of a row back into its repair.
#[derive(Debug, Clone)]
pub(super) struct Game {
    /// The players: the original columns that were replaced.
    pub(super) columns: Vec<usize>,
    /// The depth with the columns of `z` put back whose bits are set.
    pub(super) depths: Vec<f64>,
    /// The same in bits.
    pub(super) values: Vec<f64>,
}

impl Game {
    /// Scores all $2^{|C|}$ rows at once.
    pub(super) fn play(ground: &Ground<'_>, z: &[f64], repair: &Repair) -> Result<Self> {
        let columns = repair.changed.clone();
        let count = 1usize << columns.len();
        let data: Vec<f64> = (0..count).flat_map(|set| Self::row(ground, z, repair, set)).collect();
        let depths = ground.depths(&data)?;
        let values = depths.iter().map(|depth| ground.scale.bits(*depth)).collect();
        Ok(Self { columns, depths, values })
    }

    /// The repair with a set of the columns of `z` put back.
    pub(super) fn row(ground: &Ground<'_>, z: &[f64], repair: &Repair, set: usize) -> Vec<f64> {
        let mut row = repair.row.clone();
        for (player, &j) in repair.changed.iter().enumerate() {
            if set >> player & 1 == 1 {
                ground.columns[j].put(&mut row, &ground.columns[j].take(z));
            }
        }
        row
    }

    /// The Shapley value of each player.
    pub(super) fn shapley(&self) -> Vec<f64> {
        let players = self.columns.len();
        // The share of the orders in which exactly a given set of `size` others comes before a player.
        let mut weights = vec![1.0 / players.max(1) as f64; players];
        for size in 1..players {
            weights[size] = weights[size - 1] * size as f64 / (players - size) as f64;
        }
        let of = |player: usize| {
            let without = (0..self.values.len()).filter(|set| set >> player & 1 == 0);
            without
                .map(|set| {
                    let gain = self.values[set | 1 << player] - self.values[set];
                    weights[set.count_ones() as usize] * gain
                })
                .sum()
        };
        (0..players).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapley_values_of_a_known_game() {
        // The glove game: a left glove (player 0) and two right ones make one pair.
        let values: Vec<f64> =
            (0..8u8).map(|set| f64::from(u8::from(set & 1 == 1 && set & 6 != 0))).collect();
        let game = Game { columns: vec![3, 5, 9], depths: vec![0.0; 8], values };
        let found = game.shapley();
        for (found, exact) in found.iter().zip([2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]) {
            assert!((found - exact).abs() < 1e-15, "{found} {exact}");
        }
    }
}
