# Crossings of nic_axi and phy_link, for any board: read behind the board's own file, when all clocks are known. Read by no tool yet.
#
# A first register of sync_level catches a level, or one changing bit of a gray code, whenever it comes: its path has no time, but bits of one pointer must not be further apart than a cycle of the writing clock,
# which a bound on the path of 4 ns holds for clocks up to 250 MHz. Words of async_fifo stand in LUT RAM before their pointer is seen, two cycles of the reading clock later.
set_max_delay -datapath_only 4.0 -to [get_pins -hierarchical -filter {NAME =~ *stages_reg[*]/D}] -from [all_clocks]
set_max_delay -datapath_only 4.0 -from [get_cells -hierarchical -filter {NAME =~ */mem_reg*}] -to [get_cells -hierarchical -filter {NAME =~ */rd_data_reg[*]}]
# Resets come at any time; reset_sync lets them end with an edge.
set_false_path -to [get_pins -hierarchical -filter {NAME =~ *stages_reg[*]/PRE}]
